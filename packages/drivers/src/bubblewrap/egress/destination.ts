import type { NetworkProfile } from '@idunn/release';

export interface Destination {
  readonly host: string;
  readonly port: number;
}

export const placeOf = ({ host, port }: Destination): string => `${host}:${port}`;

/** What a CONNECT request names, as `host:port`; `null` for anything else. */
export function connectDestination(authority: string): Destination | null {
  const match = /^([A-Za-z0-9.-]{1,255}):([0-9]{1,5})$/.exec(authority);
  return match === null ? null : { host: (match[1] ?? '').toLowerCase(), port: Number(match[2]) };
}

/** What a request in absolute form names; `null` unless it is plain http without a user. */
export function requestDestination(target: string): (Destination & { readonly path: string }) | null {
  if (!URL.canParse(target)) return null;
  const url = new URL(target);
  if (url.protocol !== 'http:' || url.username !== '' || url.password !== '') return null;
  const port = url.port === '' ? 80 : Number(url.port);
  return { host: url.hostname, port, path: `${url.pathname}${url.search}` };
}

/** Only exactly what the profile lists: no suffix, no other port, no address in place of a name (I11). */
export const isAdmitted = ({ hosts }: NetworkProfile, { host, port }: Destination): boolean =>
  hosts.some((admitted) => admitted.host === host && admitted.port === port);
