import { isIPv6 } from 'node:net';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** Version 2, command PROXY. */
const PROXY = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

export interface Place {
  readonly address: string;
  readonly port: number;
}

/** The header of PROXY protocol version 2: who the client is, and where it connected to. */
export function proxyHeader(client: Place, local: Place): Buffer {
  const wide = isIPv6(bare(client.address)) || isIPv6(bare(local.address));
  const addresses = Buffer.concat([bytesOf(client.address, wide), bytesOf(local.address, wide)]);
  const rest = Buffer.alloc(4);
  rest.writeUInt16BE(client.port, 0);
  rest.writeUInt16BE(local.port, 2);
  const head = Buffer.from([PROXY, wide ? TCP_OVER_IPV6 : TCP_OVER_IPV4, 0, addresses.length + rest.length]);
  return Buffer.concat([SIGNATURE, head, addresses, rest]);
}

/** Without the prefix by which an IPv6 socket writes an IPv4 peer, and without a zone. */
const bare = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');

function bytesOf(address: string, wide: boolean): Buffer {
  const text = bare(address);
  if (isIPv6(text)) return wideBytes(text);
  const four = Buffer.from(text.split('.').map(Number));
  return wide ? Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), four]) : four;
}

function wideBytes(text: string): Buffer {
  const [left = '', right] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const before = groups(left);
  const after = groups(right ?? '');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
