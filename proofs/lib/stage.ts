import { type Fleet, makeFleet, type Scope } from '../../tests/e2e/lib/fleet.ts';

/**
 * Runs `act` with a fleet of its own and ends everything that the fleet started, also when `act` throws or we are told
 * to end.
 */
export const withFleet = <T>(act: (fleet: Fleet) => Promise<T>): Promise<T> =>
  withScope(async (scope) => act(await makeFleet(scope)));

/** The same for whatever tells the scope how it is ended; the newest is ended first. */
export async function withScope<T>(act: (scope: Scope) => Promise<T>): Promise<T> {
  const endings: (() => Promise<void>)[] = [];
  const scope = {
    passed: false,
    after: (end: () => Promise<void>) => {
      endings.push(end);
    },
    diagnostic: (text: string) => console.error(text),
  };
  const endAll = async (): Promise<void> => {
    for (let each = endings.pop(); each !== undefined; each = endings.pop()) await each();
  };
  let ending: Promise<void> | null = null;
  // Whoever is second waits for the first: what is interrupted fails while its parts are ended.
  const end = (): Promise<void> => {
    ending ??= endAll();
    return ending;
  };
  const interrupted = (): void => {
    void end().finally(() => process.exit(1));
  };
  process.once('SIGTERM', interrupted).once('SIGINT', interrupted);
  try {
    const result = await act(scope);
    scope.passed = true;
    return result;
  } finally {
    await end();
    process.off('SIGTERM', interrupted).off('SIGINT', interrupted);
  }
}

/** The port of a fleet's stable route. */
export const portOf = (fleet: Fleet): number => Number(new URL(fleet.url).port);
