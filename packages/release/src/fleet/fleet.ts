import type { BindingDocument } from '../binding/parse.ts';
import { faultAt } from '../configuration/document.ts';
import type { Fault, Place } from '../configuration/fault.ts';
import type { Directories } from './directories.ts';
import type { FleetDocument } from './parse.ts';

/** A fleet as the authority uses it: every directory resolved, every binding valid. */
export interface Fleet {
  readonly id: string;
  /** The fleet directory, absolute. */
  readonly root: string;
  readonly directories: Directories;
  /** Endpoint ports for bindings that name none. */
  readonly ports: { readonly from: number; readonly to: number };
  readonly daemon: { readonly queueDepth: number };
  /** Profile name to its targets. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
  /** By target. */
  readonly bindings: ReadonlyMap<string, BindingDocument>;
}

/**
 * Puts the files together. Faults between files come beside it; what they are about is left out of the fleet. `unread`
 * names the binding files, without their ending, that are faulty themselves: their targets are unknown, not absent
 * (I10).
 */
export function assembleFleet(
  root: string,
  { fleet, document }: FleetDocument,
  directories: Directories,
  bindings: readonly BindingDocument[],
  unread: readonly string[],
): { readonly fleet: Fleet; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const byTarget = new Map<string, BindingDocument>();
  const places = new Map<string, Place>();
  const claim = (binding: BindingDocument, path: readonly string[], key: string, message: string): boolean => {
    const earlier = places.get(key);
    if (earlier === undefined) {
      places.set(key, binding.document.place(path));
      return true;
    }
    faults.push(faultAt(binding.document, path, 'duplicate-name', message, earlier));
    return false;
  };
  for (const binding of bindings) {
    const { target, route } = binding.binding;
    if (!claim(binding, ['target'], `target ${target}`, `target "${target}" is bound twice`)) continue;
    const name = routeName(binding);
    const named =
      name === null ||
      claim(binding, ['route', 'name'], `route ${name}`, `route "${name}" is bound twice in the fleet`);
    const listen = route === undefined ? null : `${route.listen.host}:${route.listen.port}`;
    const free =
      listen === null ||
      claim(binding, ['route', 'listen'], `listen ${listen}`, `${listen} is bound twice in the fleet`);
    if (named && free) byTarget.set(target, binding);
  }
  const profiles = Object.fromEntries(
    Object.entries(fleet.profiles).map(([name, profile]) => [name, Array.isArray(profile) ? profile : profile.targets]),
  );
  const declared = new Set([...bindings.map((binding) => binding.binding.target), ...unread]);
  for (const [name, targets] of Object.entries(profiles)) {
    const inTable = !Array.isArray(fleet.profiles[name]);
    targets.forEach((target, index) => {
      if (declared.has(target)) return;
      const path = inTable ? ['profiles', name, 'targets', index] : ['profiles', name, index];
      faults.push(faultAt(document, path, 'undefined-reference', `no binding of the fleet has the target "${target}"`));
    });
  }
  const { id, ports, daemon } = fleet;
  return {
    fleet: { id, root, directories, ports, daemon: { queueDepth: daemon.queue_depth }, profiles, bindings: byTarget },
    faults,
  };
}

/** The route's name: its own, else the target's; `null` without a route. */
export function routeName({ binding }: BindingDocument): string | null {
  return binding.route === undefined ? null : (binding.route.name ?? binding.target);
}
