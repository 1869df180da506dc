import { join } from 'node:path';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';
import type { Steward } from '@idunn/release';
import type { Freeze, FreezePort } from '../ports/freeze-port.ts';
import { readStop, type StopFile } from './read.ts';
import { type StopKind, WHOLE_FLEET } from './record.ts';

/** Where a fleet keeps its own stops: `freezes/` and `holds/` in its state directory, a file for each target. */
export const stopFile = (state: string, kind: StopKind, target: string): string =>
  join(state, `${kind}s`, `${target}.json`);

/** The command that clears a stop of the fleet's own, or its steward's. */
export const clearedBy = (kind: StopKind, target: string, steward: Steward | null = null): string => {
  if (steward !== null) return `as ${steward.user}: idunn ${kind} clear --store ${steward.store} --target-id ${target}`;
  return `idunn ${kind} clear ${target === WHOLE_FLEET ? '--fleet' : target}`;
};

/** What is said of a stop that cannot be read: why, and what replaces it. */
export const unreadableStop = (because: string, clear: string): string => `${because}; replace it with: ${clear}`;

export interface StopPlaces {
  /** The fleet's state directory. */
  readonly state: string;
  /** Whose files the fleet's own stops are: the user that the daemon runs as. */
  readonly uid: number;
  /** The user of a login, on this machine, now. */
  readonly uidOf: (login: string) => Promise<Evidence<number>>;
}

/** Every stop on a target, each read anew each time: its own, the whole fleet's, and its steward's. */
export function createStops({ state, uid, uidOf }: StopPlaces): FreezePort {
  const own = (kind: StopKind, target: string): StopFile => ({
    file: stopFile(state, kind, target),
    kind,
    target,
    ownerUid: uid,
  });
  const fleetOwn = (kind: StopKind, target: string): Promise<Evidence<Freeze>[]> =>
    Promise.all([
      gate(own(kind, target), clearedBy(kind, target), null),
      gate(own(kind, WHOLE_FLEET), clearedBy(kind, WHOLE_FLEET), null),
    ]);
  return {
    async read(target, steward) {
      const stops = [
        ...(await fleetOwn('freeze', target)),
        ...(steward === null ? [] : [await stewards(target, steward)]),
      ];
      return together(stops);
    },
    readHold: async (target) => together(await fleetOwn('hold', target)),
  };

  /** The owner of the file proves the steward; the record's own words name nobody. */
  async function stewards(target: string, { user, store }: Steward): Promise<Evidence<Freeze>> {
    const account = await uidOf(user);
    if (account.kind !== 'seen' || account.value === 0) {
      const why = account.kind === 'seen' ? 'is root' : account.kind === 'unknown' ? account.because : 'does not exist';
      return unknown(`the steward ${user} of ${store} ${why}`);
    }
    const clear = clearedBy('freeze', target, { user, store });
    return gate({ file: store, kind: 'freeze', target, ownerUid: account.value }, clear, `its steward ${user}`);
  }
}

/** A stop as a deployment or a restart meets it: clear is absent. */
async function gate(about: StopFile, clear: string, holder: string | null): Promise<Evidence<Freeze>> {
  const stop = await readStop(about);
  if (stop.kind === 'absent') return absent;
  if (stop.kind === 'unknown') return unknown(unreadableStop(stop.because, clear));
  const { record, digest } = stop.value;
  if (record.state === 'clear') return absent;
  const { by, reason, since } = record;
  return seen({ by: holder ?? by, reason, since, record: digest, clearedBy: clear, also: [] });
}

/** Any one that is engaged or unreadable holds; the first engaged one speaks, and names all the others. */
function together(stops: readonly Evidence<Freeze>[]): Evidence<Freeze> {
  const engaged = stops.flatMap((stop) => (stop.kind === 'seen' ? [stop.value] : []));
  const unreadable = stops.flatMap((stop) => (stop.kind === 'unknown' ? [stop.because] : []));
  const [first, ...others] = engaged;
  if (first !== undefined) return seen({ ...first, also: others, unreadable });
  return unreadable.length > 0 ? unknown(unreadable.join('; ')) : absent;
}
