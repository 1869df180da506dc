import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import { readClaimFile } from './claim-file.ts';
import { leaseCarriers, OWN_FILES } from './lease-carriers.ts';
import { inspectDirectory, inspectStore } from './store-file.ts';

/**
 * Looks at every store of a state, and answers the ids of the databases with a lease row whose file is there. Refused
 * when a store is unfit, bears a name of Idunn's own, or carried a row before and is missing. Nothing is made.
 */
export function inspectState(state: StateContract): Outcome<ReadonlySet<string>> {
  const there = new Set<string>();
  const claim = readClaimFile(state.root);
  for (const store of state.stores) {
    if (store.path.startsWith(OWN_FILES)) {
      return refused(refusal('store-not-plain', `The store ${store.path}: its name is kept for Idunn.`));
    }
    const inspect = store.kind === 'files' ? inspectDirectory : inspectStore;
    const inspected = inspect(state.root, store.path);
    if (!inspected.ok) return inspected;
  }
  for (const carrier of leaseCarriers(state)) {
    const inspected = inspectStore(state.root, carrier.path);
    if (!inspected.ok) return inspected;
    if (inspected.value === 'there') there.add(carrier.id);
    else if (claim.kind === 'seen' && claim.value.stores.includes(carrier.id)) {
      return refused(refusal('store-missing', `The store ${carrier.id} of ${state.stateId} is missing.`));
    }
  }
  return ok(there);
}
