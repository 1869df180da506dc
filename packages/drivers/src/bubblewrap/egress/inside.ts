import { fileURLToPath } from 'node:url';
import { PLACES } from '../places.ts';
import type { Shown } from '../view.ts';

const PORT = 3_128;
const NODE = `${PLACES.egress}/node`;
const SOCKET = `${PLACES.egress}/socket`;

const fromSource = import.meta.url.endsWith('.ts');
const FORWARDER = fromSource ? 'forwarder.ts' : 'forwarder.js';

/** What a sandbox with a network is shown beside everything else: the way out and the program that opens it. */
export const egressShown = (socket: string): readonly Shown[] => [
  { kind: 'read-only', source: process.execPath, destination: NODE },
  {
    kind: 'read-only',
    source: fileURLToPath(new URL(`./${FORWARDER}`, import.meta.url)),
    // By this name Node takes it for a module, wherever no package says so.
    destination: `${PLACES.egress}/${fromSource ? 'forwarder.mts' : 'forwarder.mjs'}`,
  },
  { kind: 'read-only', source: socket, destination: SOCKET },
];

/** Before the step's program. */
export const throughEgress: readonly string[] = [
  NODE,
  `${PLACES.egress}/${fromSource ? 'forwarder.mts' : 'forwarder.mjs'}`,
  SOCKET,
  String(PORT),
];

const proxy = `http://127.0.0.1:${PORT}`;

/** By these names npm, pip, Go, cargo and curl find their proxy. */
export const EGRESS_ENVIRONMENT: Readonly<Record<string, string>> = {
  HTTP_PROXY: proxy,
  HTTPS_PROXY: proxy,
  http_proxy: proxy,
  https_proxy: proxy,
};
