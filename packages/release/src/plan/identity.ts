import type { Evidence } from '@idunn/kernel';
import type { BindingDocument } from '../binding/parse.ts';
import type { Binding } from '../binding/schema.ts';
import { faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import type { Path } from '../configuration/path.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { readersOf } from '../fleet/readers.ts';
import type { NamedGroup, NamedUser, WorkloadIdentity } from '../model/plan.ts';
import { type HostFacts, usersOf } from './host-facts.ts';

/** What the machine contradicts in the users and groups of a workload (I11). */
export function checkIdentity(fleet: Fleet, bound: BindingDocument, host: HostFacts): readonly Fault[] {
  const { binding, document } = bound;
  const { user, alternate_user: other, group } = binding.workload;
  const fault = (path: Path, message: string): Fault[] => [faultAt(document, path, 'workload-user-unusable', message)];
  if (user === undefined) {
    return (
      [
        [['workload', 'alternate_user'], other],
        [['workload', 'group'], group],
        [['state', 'group'], binding.state?.group],
      ] as const
    ).flatMap(([path, value]) =>
      value === undefined ? [] : fault(path, `${path.join('.')}: there is no workload.user that it could belong to`),
    );
  }
  if (host.uid !== 0) {
    return fault(['workload', 'user'], `workload.user: only root starts programs as ${user}, and Idunn is not root`);
  }
  return [
    ...checkUser(fleet, bound, host, 'user', user),
    ...(other === undefined ? [] : checkUser(fleet, bound, host, 'alternate_user', other)),
    ...(group === undefined ? [] : checkGroup(bound, host, group)),
    ...checkStateGroup(bound, host),
  ];
}

function checkUser(
  fleet: Fleet,
  { binding, document }: BindingDocument,
  host: HostFacts,
  field: 'user' | 'alternate_user',
  name: string,
): Fault[] {
  const fault = (message: string): Fault[] => [
    faultAt(document, ['workload', field], 'workload-user-unusable', `workload.${field}: ${message}`),
  ];
  const own = host.accounts?.[name];
  if (own?.kind !== 'seen') return fault(unresolved('user', name, own));
  const { uid } = own.value;
  if (uid === 0) return fault(`${name} is root itself`);
  if (field === 'alternate_user' && binding.workload.user !== undefined) {
    const first = host.accounts?.[binding.workload.user];
    if (first?.kind === 'seen' && first.value.uid === uid) return fault('it is the user that it takes turns with');
  }
  // Whoever is the reader's user could put other commits into its object caches (I2).
  const reader = readersOf(fleet.source.reader).find((may) => host.accounts?.[may]?.kind === 'seen');
  const reads = reader === undefined ? undefined : host.accounts?.[reader];
  if (reads?.kind === 'seen' && reads.value.uid === uid) return fault(`${name} reads the repositories`);
  for (const { binding: theirs } of fleet.bindings.values()) {
    if (theirs.target === binding.target) continue;
    for (const taken of usersOf(theirs)) {
      const evidence = host.accounts?.[taken];
      if (evidence?.kind !== 'seen' || evidence.value.uid !== uid) continue;
      return fault(`user ${uid} is that of target "${theirs.target}"`);
    }
  }
  return [];
}

function checkGroup({ document }: BindingDocument, host: HostFacts, name: string): Fault[] {
  const found = host.groups?.[name];
  const message = found?.kind === 'seen' ? notRoot(name, found.value.gid) : unresolved('group', name, found);
  if (message === null) return [];
  return [faultAt(document, ['workload', 'group'], 'workload-user-unusable', `workload.group: ${message}`)];
}

/** Name and number both hold: a group that was made anew under an old name is another group. */
function checkStateGroup({ binding: { state }, document }: BindingDocument, host: HostFacts): Fault[] {
  if (state?.group === undefined) return [];
  const { name, gid } = state.group;
  const found = host.groups?.[name];
  const message =
    found?.kind !== 'seen'
      ? unresolved('group', name, found)
      : found.value.gid === gid
        ? null
        : `the group ${name} has number ${found.value.gid}, not ${gid}`;
  if (message === null) return [];
  return [faultAt(document, ['state', 'group'], 'state-group-unusable', `state.group: ${message}`)];
}

const notRoot = (name: string, gid: number): string | null => (gid === 0 ? `${name} is the group of root` : null);

function unresolved(what: 'user' | 'group', name: string, evidence: Evidence<unknown> | undefined): string {
  if (evidence?.kind === 'unknown') return `the ${what} ${name} could not be looked up: ${evidence.because}`;
  return `this machine has no ${what} ${name}`;
}

/** The numbers of an admitted binding's users; `null` where the daemon's own user runs the program. */
export function compileIdentity({ workload }: Binding, host: HostFacts): WorkloadIdentity | null {
  const { user, alternate_user: other, group } = workload;
  if (user === undefined) return null;
  const [first, gid] = found(user, host);
  const named = group === undefined ? { name: user, gid } : foundGroup(group, host);
  return { users: other === undefined ? [first] : [first, found(other, host)[0]], group: named };
}

function found(name: string, { accounts }: HostFacts): readonly [NamedUser, number] {
  const evidence = accounts?.[name];
  if (evidence?.kind !== 'seen') throw new TypeError('an unchecked user');
  return [{ name, uid: evidence.value.uid }, evidence.value.gid];
}

function foundGroup(name: string, { groups }: HostFacts): NamedGroup {
  const evidence = groups?.[name];
  if (evidence?.kind !== 'seen') throw new TypeError('an unchecked group');
  return { name, gid: evidence.value.gid };
}
