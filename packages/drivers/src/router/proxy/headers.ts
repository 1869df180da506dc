/**
 * Headers of one connection only (RFC 9110, 7.6.1), and `Trailer`: trailers are forwarded, their announcement is
 * optional.
 */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Registered by the control socket first; a client's own is dropped. */
export const OBSERVE_HEADER = 'idunn-observe';
export const REJECTED_HEADER = 'idunn-rejected';
export const BEFORE_EFFECT = 'before-effect';

/** The client's end of the connection. */
export interface Peer {
  readonly address: string;
  /** A front of this machine, such as a TLS terminator: what it says about its own client is believed. */
  readonly trusted: boolean;
  /** Whether it speaks TLS with the router. */
  readonly proto: 'http' | 'https';
}

export const peerOf = (address: string, proto: Peer['proto'] = 'http'): Peer => ({
  address,
  proto,
  trusted: address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.'),
});

export interface RequestHead {
  /** Names and values in turn, as Node takes them raw. */
  readonly headers: string[];
  readonly hasBody: boolean;
  /** Bytes that the header takes in memory. */
  readonly bytes: number;
  readonly nonce: string | null;
}

const FORWARDED = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
]);

/**
 * The header for the backend: hop-by-hop fields and everything that `Connection` names are dropped, Host is kept, the
 * body's framing is said anew, and who the client is is added. Forwarded fields of a peer that is not trusted are
 * replaced. `upgrade`: the protocol that the client asks to go on with.
 */
export function requestHead(
  method: string,
  raw: readonly string[],
  peer: Peer,
  localPort: number,
  upgrade: string | null = null,
): RequestHead {
  const named = namedByConnection(raw);
  const headers: string[] = [];
  let bytes = 0;
  let chunked = false;
  let length: string | null = null;
  let host: string | null = null;
  let nonce: string | null = null;
  const forwarded: Partial<Record<string, string>> = {};
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    const key = name.toLowerCase();
    bytes += name.length + value.length + 4;
    if (key === 'transfer-encoding') chunked = true;
    else if (key === 'content-length') length = value;
    else if (key === OBSERVE_HEADER) nonce = value;
    else if (FORWARDED.has(key)) forwarded[key] = forwarded[key] === undefined ? value : `${forwarded[key]}, ${value}`;
    else if (!HOP_BY_HOP.has(key) && named?.has(key) !== true) {
      if (key === 'host') host = value;
      headers.push(name, value);
    }
  }
  if (host === null) headers.push('Host', ''); // An HTTP/1.0 client may leave it out, an HTTP/1.1 request may not.
  if (chunked) headers.push('Transfer-Encoding', 'chunked');
  else if (length !== null) headers.push('Content-Length', length);
  else if (method === 'POST' || method === 'PUT' || method === 'PATCH') headers.push('Content-Length', '0');
  if (upgrade !== null) headers.push('Connection', 'Upgrade', 'Upgrade', upgrade);
  pushForwarded(headers, peer.trusted ? forwarded : {}, peer, host ?? '', localPort);
  return { headers, hasBody: chunked || (length !== null && length !== '0'), bytes, nonce };
}

function pushForwarded(
  headers: string[],
  before: Partial<Record<string, string>>,
  peer: Peer,
  host: string,
  localPort: number,
): void {
  const after = (name: string, own: string): string => (before[name] === undefined ? own : `${before[name]}, ${own}`);
  const node = peer.address.includes(':') ? `"[${peer.address}]"` : peer.address;
  const own = /^[\w.:[\]-]+$/.test(host)
    ? `for=${node};host="${host}";proto=${peer.proto}`
    : `for=${node};proto=${peer.proto}`;
  const forwardedHost = before['x-forwarded-host'] ?? host;
  if (forwardedHost !== '') headers.push('X-Forwarded-Host', forwardedHost);
  headers.push(
    'X-Forwarded-For',
    after('x-forwarded-for', peer.address),
    'X-Forwarded-Port',
    before['x-forwarded-port'] ?? String(localPort),
    'X-Forwarded-Proto',
    before['x-forwarded-proto'] ?? peer.proto,
    'Forwarded',
    after('forwarded', own),
    'Via',
    '1.1 idunn',
  );
}

export interface ResponseHead {
  readonly headers: string[];
  readonly rejectedBeforeEffect: boolean;
  readonly eventStream: boolean;
}

/** The header for the client; framing and keep-alive are said anew by our own side of the connection. */
export function responseHead(raw: readonly string[]): ResponseHead {
  const named = namedByConnection(raw);
  const headers: string[] = [];
  let rejectedBeforeEffect = false;
  let eventStream = false;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || named?.has(key) === true) continue;
    if (key === REJECTED_HEADER) rejectedBeforeEffect = value.toLowerCase() === BEFORE_EFFECT;
    if (key === 'content-type') eventStream = value.toLowerCase().startsWith('text/event-stream');
    headers.push(name, value);
  }
  return { headers, rejectedBeforeEffect, eventStream };
}

/** The answer by which a member goes on with another protocol, as it goes on the wire. */
export function switchingHead(statusMessage: string, raw: readonly string[], protocol: string): string {
  const { headers } = responseHead(raw);
  let text = `HTTP/1.1 101 ${statusMessage}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}\r\n`;
}

/** Fields that `Connection` names; almost always none but its own words. */
function namedByConnection(raw: readonly string[]): Set<string> | null {
  let named: Set<string> | null = null;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    const value = (raw[index + 1] ?? '').toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    named ??= new Set();
    for (const word of value.split(',')) named.add(word.trim());
    // Framing and routing are not for a client to take away.
    named.delete('host');
    named.delete('content-length');
  }
  return named;
}
