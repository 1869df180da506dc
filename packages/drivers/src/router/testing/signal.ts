/** Something that happens once, to be awaited. */
export interface Signal<T = void> {
  readonly happened: Promise<T>;
  readonly tell: (value: T) => void;
}

export function signal<T = void>(): Signal<T> {
  let tell: (value: T) => void = () => undefined;
  const happened = new Promise<T>((resolve) => {
    tell = resolve;
  });
  return { happened, tell };
}
