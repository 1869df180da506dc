import { dirname } from 'node:path';
import type { BindingDocument } from '../binding/parse.ts';
import { faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { HostFacts } from './host-facts.ts';
import { overlap, problem } from './lineages.ts';

/**
 * A steward proves itself by owning its store, and owns the whole directory: it is no one else's, lies in none of the
 * authority's, and no workload writes there.
 */
export function checkSteward(fleet: Fleet, { binding, document }: BindingDocument, host: HostFacts): readonly Fault[] {
  const { steward } = binding;
  if (steward === undefined) return [];
  const account = host.users[steward.user];
  if (account?.kind !== 'seen' || account.value === 0) {
    const why = account?.kind === 'seen' ? 'is root, whom no second freeze can hold' : problem(account, '');
    return [faultAt(document, ['steward', 'user'], 'steward-unusable', `the steward ${steward.user} ${why}`)];
  }
  const directory = dirname(steward.store);
  const own = host.directories[directory];
  if (own?.kind !== 'seen') {
    const message = `${directory} ${problem(own, 'cannot be looked at')}`;
    return [faultAt(document, ['steward', 'store'], 'host-directory-unreadable', message)];
  }
  return others(fleet, binding.target).flatMap(([what, path]): Fault[] => {
    const found = overlap(own.value, host.directories[path]);
    if (found === null) return [];
    const message = `the directory of steward.store ${directory} ${found} ${what} ${path}`;
    return [faultAt(document, ['steward', 'store'], 'steward-store-overlaps', message)];
  });
}

/** Every directory that a steward's may not touch, with what it is. */
function others(fleet: Fleet, target: string): readonly (readonly [string, string])[] {
  const own = Object.entries(fleet.directories).map(([name, path]) => [`Idunn’s ${name} directory`, path] as const);
  const bound = [...fleet.bindings.values()].flatMap(({ binding }) => [
    ...(binding.state === undefined ? [] : [[`the state root of ${binding.target}`, binding.state.root] as const]),
    ...(binding.steward === undefined || binding.target === target
      ? []
      : [[`the steward’s directory of ${binding.target}`, dirname(binding.steward.store)] as const]),
  ]);
  return [...own, ['the fleet directory', fleet.root], ...bound];
}
