import { setTimeout as pause } from 'node:timers/promises';
import { ask, type Event, journal, json } from '../../tests/e2e/lib/world.ts';

interface Version {
  readonly pid: number;
  readonly beganMs: number;
  readonly epoch: number;
}

/** What a death cost. */
export interface Death {
  /** From the kill to the first moment of the next process, by the wall clock. */
  readonly spawnedMs: number;
  /** From the kill to the first write that was acknowledged. */
  readonly servingMs: number;
  /** The journal after it is the one before it, to the last byte, and one event longer. */
  readonly sameJournal: boolean;
}

const ASK_AGAIN_MS = 2;
const GIVE_UP_MS = 60_000;
const EVENTS = 20;

/** Fills a world a little, kills its process, and waits until the next one writes. `pid` as this machine knows it. */
export async function killOnce(url: string, name: string, pidOf: (version: Version) => number): Promise<Death> {
  for (let n = 0; n < EVENTS; n += 1) await json(url, '/events', { id: `${name}-${n}`, text: 'before' });
  const before = await journal(url);
  const old = await json<Version>(url, '/version');
  const pid = pidOf(old);
  const killedMs = performance.timeOrigin + performance.now();
  process.kill(pid, 'SIGKILL');
  await firstWrite(url, `${name}-after`);
  const servingMs = performance.timeOrigin + performance.now() - killedMs;
  const next = await json<Version>(url, '/version');
  if (next.beganMs === old.beganMs) throw new Error(`${name}: the process that was killed still answers`);
  const after = await journal(url);
  return { spawnedMs: next.beganMs - killedMs, servingMs, sameJournal: goesOn(before, after) };
}

const goesOn = (before: readonly Event[], after: readonly Event[]): boolean =>
  after.length === before.length + 1 && JSON.stringify(after.slice(0, -1)) === JSON.stringify(before);

/** Asks until a write is acknowledged; one under the same id is kept once, however often it is told. */
export async function firstWrite(url: string, id: string): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    const answer = await ask(url, '/events', { id, text: 'after' }).catch(() => null);
    if (answer !== null && answer.status >= 200 && answer.status < 300) return;
    await pause(ASK_AGAIN_MS);
  }
  throw new Error(`nothing was written to ${url} for ${GIVE_UP_MS} ms`);
}
