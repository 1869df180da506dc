import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Evidence, unknown } from '@idunn/kernel';
import type { Steward } from '@idunn/release';
import type { FreezePort, StandingStop, StopName } from '../ports/freeze-port.ts';
import { clearedBy, type StopPlaces, stopFile } from './port.ts';
import { readStop } from './read.ts';
import { type Stop, type StopKind, WHOLE_FLEET } from './record.ts';
import { watchDirectories } from './watch.ts';

export interface StandingPlaces extends StopPlaces {
  /** The login of `uid`: the fleet's own stops are its word. */
  readonly owner: string;
  readonly targets: () => readonly string[];
  /** Who may stop which target, by the bindings as they stand. */
  readonly stewards: () => readonly { readonly target: string; readonly steward: Steward }[];
}

const KINDS: readonly StopKind[] = ['freeze', 'hold'];

/** Looks at every stop of a fleet, and tells when to look again: the other half of a `FreezePort`. */
export function standingStops(places: StandingPlaces): Required<Pick<FreezePort, 'standing' | 'watch'>> {
  const { state, uid, owner, targets, stewards } = places;

  /** A directory that cannot be listed hides its files, but not the stop on the whole fleet: that one says why. */
  async function listed(kind: StopKind): Promise<readonly StopName[]> {
    const files = new Set(await readdir(join(state, `${kind}s`)).catch(() => []));
    const named = targets().filter((target) => files.has(`${target}.json`));
    return [...named, WHOLE_FLEET].map((target) => ({ kind, target, steward: null }));
  }

  async function own({ kind, target }: StopName): Promise<StandingStop> {
    const stop = await readStop({ file: stopFile(state, kind, target), kind, target, ownerUid: uid });
    return { kind, target, steward: null, holder: owner, stop, clearedBy: clearedBy(kind, target) };
  }

  async function ofSteward(target: string, { user, store }: Steward): Promise<StandingStop> {
    const account = await places.uidOf(user);
    const stop: Evidence<Stop> =
      account.kind === 'seen' && account.value !== 0
        ? await readStop({ file: store, kind: 'freeze', target, ownerUid: account.value })
        : unknown(`the steward ${user} of ${store} ${account.kind === 'seen' ? 'is root' : 'has no account'}`);
    const clear = clearedBy('freeze', target, { user, store });
    return { kind: 'freeze', target, steward: user, holder: user, stop, clearedBy: clear };
  }

  let changed: (() => void) | null = null;
  const watching = watchDirectories(
    () => [...KINDS.map((kind) => join(state, `${kind}s`)), ...stewards().map(({ steward }) => dirname(steward.store))],
    () => changed?.(),
  );

  return {
    async standing(known) {
      // Before the reading, so that no change falls between the two.
      if (changed !== null) await watching.refresh();
      const found = [...(await Promise.all(KINDS.map(listed))).flat(), ...known.filter((one) => one.steward === null)];
      const names = new Map(found.map((name) => [`${name.kind} ${name.target}`, name]));
      return Promise.all([
        ...[...names.values()].map(own),
        ...stewards().map(({ target, steward }) => ofSteward(target, steward)),
      ]);
    },
    watch(tell) {
      changed = tell;
      return () => {
        changed = null;
        watching.close();
      };
    },
  };
}
