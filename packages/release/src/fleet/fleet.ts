import type { BindingDocument } from '../binding/parse.ts';
import { faultAt } from '../configuration/document.ts';
import type { Fault, Place } from '../configuration/fault.ts';
import type { Directories } from './directories.ts';
import type { FleetDocument } from './parse.ts';
import type { NotifierFile } from './schema.ts';

/** A fleet as the authority uses it: every directory resolved, every binding valid. */
export interface Fleet {
  readonly id: string;
  /** The fleet directory, absolute. */
  readonly root: string;
  readonly directories: Directories;
  /** Endpoint ports for bindings that name none. */
  readonly ports: { readonly from: number; readonly to: number };
  readonly daemon: { readonly queueDepth: number };
  /** Who is told of incidents. */
  readonly notify: readonly NotifierFile[];
  /** Who reads repositories for a root daemon, where one is named, and whose local repositories are read. */
  readonly source: { readonly reader: string | null; readonly originOwners: readonly string[] };
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
  const kinds = new Map<string, { readonly kind: string; readonly place: Place }>();
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
    const free = placesOf(route).every(({ path, key, kind, message }) => {
      const sharing = kinds.get(key.address);
      if (sharing !== undefined && sharing.kind !== kind) {
        const shared = `${key.address} is for ${sharing.kind} already; an address is shared by routes of one kind`;
        faults.push(faultAt(binding.document, path, 'invalid-value', shared, sharing.place));
        return false;
      }
      kinds.set(key.address, sharing ?? { kind, place: binding.document.place(path) });
      return key.name === null || claim(binding, path, `listen ${key.address} ${key.name}`, message);
    });
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
  const { id, ports, daemon, notify, source } = fleet;
  return {
    fleet: {
      id,
      root,
      directories,
      ports,
      daemon: { queueDepth: daemon.queue_depth },
      notify,
      source: { reader: source.reader ?? null, originOwners: source.origin_owners },
      profiles,
      bindings: byTarget,
    },
    faults,
  };
}

interface Claimed {
  readonly path: readonly string[];
  /** `name` is `''` for whatever no other route of the address takes, `null` where names do not matter. */
  readonly key: { readonly address: string; readonly name: string | null };
  readonly kind: string;
  readonly message: string;
}

/** What a route takes for itself: its names on its address, and the address from which it is redirected to. */
function placesOf(route: BindingDocument['binding']['route']): readonly Claimed[] {
  if (route === undefined) return [];
  const { listen, redirect, protocol, tls } = route;
  const address = `${listen.host}:${listen.port}`;
  const kind = tls === undefined ? protocol : `${protocol} over TLS`;
  const names = route.names.length === 0 ? [''] : route.names;
  const claimed: Claimed[] = names.map((name) => ({
    path: ['route', 'listen'],
    key: { address, name },
    kind,
    message:
      name === '' ? `${address} is bound twice in the fleet` : `${name} on ${address} is bound twice in the fleet`,
  }));
  if (redirect === undefined) return claimed;
  const from = { address: `${redirect.host}:${redirect.port}`, name: null };
  return [...claimed, { path: ['route', 'redirect'], key: from, kind: 'redirects', message: '' }];
}

/** The route's name: its own, else the target's; `null` without a route. */
export function routeName({ binding }: BindingDocument): string | null {
  return binding.route === undefined ? null : (binding.route.name ?? binding.target);
}
