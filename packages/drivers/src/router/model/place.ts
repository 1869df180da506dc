import type { ListenAddress, RouteContract } from '@idunn/release';

/** What is spoken on an address. Routes share one only when they speak the same there. */
export type PlaceKind = 'http' | 'https' | 'tcp' | 'tls' | 'redirect';

/** One address on which a route is met. */
export interface Place {
  readonly kind: PlaceKind;
  readonly address: ListenAddress;
  readonly text: string;
  /** Names that the route takes there; empty: what no other route takes. */
  readonly names: readonly string[];
}

export const addressText = ({ host, port }: ListenAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Where a route listens, the address from which it is redirected to included. */
export function placesOf(contract: RouteContract | null): readonly Place[] {
  if (contract === null) return [];
  const { listen, protocol, tls, names, redirect } = contract;
  const kind = protocol === 'http' ? (tls === null ? 'http' : 'https') : tls === null ? 'tcp' : 'tls';
  const stable: Place = { kind, address: listen, text: addressText(listen), names };
  return redirect === null
    ? [stable]
    : [stable, { kind: 'redirect', address: redirect, text: addressText(redirect), names }];
}

/** Whether two routes cannot have these places side by side. Redirects lead to whichever name was asked for. */
export function clashes(one: Place, other: Place): boolean {
  if (one.text !== other.text) return false;
  if (one.kind !== other.kind) return true;
  if (one.kind === 'redirect') return false;
  if (one.names.length === 0 || other.names.length === 0) return one.names.length === other.names.length;
  return one.names.some((name) => other.names.includes(name));
}

/** Where this machine reaches a listener that may listen everywhere. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** A host name by which a route of these names is asked; `undefined`: any will do. */
export const nameToAsk = (names: readonly string[]): string | undefined => names[0]?.replace('*', 'idunn-observe');
