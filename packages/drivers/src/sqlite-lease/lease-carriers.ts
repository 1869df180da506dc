import { join } from 'node:path';
import type { StateContract, StateStore } from '@idunn/release';

/** Every file that Idunn keeps in a state root begins so; no store may. */
export const OWN_FILES = '.idunn-';

/**
 * Idunn's own database beside the owner claim, in which the row lives whose program would never compare it. Its name
 * has no ending that a program could look for.
 */
const LEASE_FILE: StateStore = { id: 'lease', kind: 'sqlite', path: `${OWN_FILES}lease` };

/** The databases that carry the lease row: the state's own, or the lease file alone. */
export const leaseCarriers = (state: StateContract): readonly StateStore[] =>
  state.lease === 'file' ? [LEASE_FILE] : state.stores.filter(({ kind }) => kind === 'sqlite');

/** Of the carriers that a claim names, those in which this state's rows do not lie any more. */
export function formerCarriers(state: StateContract, claimed: readonly string[]): readonly StateStore[] {
  const other = { ...state, lease: state.lease === 'file' ? 'rows' : 'file' } as const;
  return leaseCarriers(other).filter(({ id }) => claimed.includes(id));
}

/** Where the row of a lease file lies. */
export const leaseFileOf = ({ root }: StateContract): string => join(root, LEASE_FILE.path);
