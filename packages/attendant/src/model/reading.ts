/** What one probe found. */
export interface Finding {
  readonly good: boolean;
  /** What was asked and answered, in words: `GET /health answered 503`. */
  readonly said: string;
  readonly status: number | null;
  /** The begin of the answer's body, or of a command's output; `null` without one. */
  readonly body: string | null;
}

/** A finding with its time on the monotonic clock, secrets taken out (F30). */
export interface Reading extends Finding {
  readonly atMs: number;
  readonly tookMs: number;
}

export const good = (said: string, more: Partial<Finding> = {}): Finding => ({
  good: true,
  said,
  status: null,
  body: null,
  ...more,
});

export const bad = (said: string, more: Partial<Finding> = {}): Finding => ({ ...good(said, more), good: false });

/** One line for people: what was found last (F5). */
export function sentenceOf({ said, body }: Finding): string {
  const shown = body?.replaceAll(/\s+/g, ' ').trim() ?? '';
  return shown === '' ? said : `${said}: ${shown}`;
}
