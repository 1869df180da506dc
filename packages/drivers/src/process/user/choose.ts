import type { LaunchContract, NamedUser, StateContract } from '@idunn/release';
import type { RunsAs } from './words.ts';

/**
 * The user of a new activation: of two that take turns the one that has been without an activation for longest, so that
 * a candidate is never its incumbent's user. `taken` holds the users of the target's activations that are still kept,
 * eldest first.
 */
export function chooseUser(
  { identity }: LaunchContract,
  state: StateContract | null,
  taken: readonly number[],
): RunsAs | null {
  if (identity === undefined) return null;
  const newest = (user: NamedUser): number => taken.lastIndexOf(user.uid);
  const [first, second = first] = identity.users;
  const { uid } = newest(first) <= newest(second) ? first : second;
  return { uid, gid: identity.group.gid, stateGid: state?.group?.gid ?? null };
}
