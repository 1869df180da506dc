import type { IncomingMessage } from 'node:http';

/**
 * What is wrong with a request that the parser let pass, and that a backend might read in another way than we do (RFC
 * 9112, 3.2 and 6.1); `null` when nothing is.
 */
export function ambiguity(request: IncomingMessage): 'request-ambiguous' | 'request-unforwardable' | null {
  const raw = request.rawHeaders;
  let hosts = 0;
  let codings = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    if (name.length !== 17 || name.toLowerCase() !== 'transfer-encoding') continue;
    codings++;
    // Another coding would be lost on the way: the body's framing is said anew.
    if (raw[index + 1]?.toLowerCase() !== 'chunked') return 'request-unforwardable';
  }
  if (hosts > 1 || codings > 1 || (codings > 0 && request.httpVersionMinor === 0)) return 'request-ambiguous';
  return targetOf(request) === null ? 'request-ambiguous' : null;
}

/**
 * The path and query that are asked for. A whole URL, as for a proxy, counts when its authority is the one that Host
 * names; `null` for anything else.
 */
export function targetOf(request: IncomingMessage): string | null {
  const url = request.url ?? '/';
  if (url.startsWith('/') || url === '*') return url;
  const whole = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url);
  if (whole === null || whole[1]?.toLowerCase() !== (request.headers.host ?? '').toLowerCase()) return null;
  const rest = whole[2] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
