import type { KeyObject } from 'node:crypto';
import type { LaunchDocument } from '../launch/document.ts';
import { readAudience } from '../launch/document.ts';
import { type Envelope, readEnvelope, type SigningKey, signEnvelope, signedBy } from '../words/envelope.ts';
import type { JsonObject } from '../words/json.ts';
import { Shape } from '../words/shape.ts';

/** What the authority sends. */
export type Incoming =
  | { readonly type: 'hello'; readonly challenge: string }
  | { readonly type: 'welcome'; readonly counterChallenge: string }
  | { readonly type: 'echo'; readonly nonce: string }
  | { readonly type: 'relinquish'; readonly epoch: number; readonly termMs: number | null }
  | { readonly type: 'withdraw'; readonly relinquishId: string }
  | { readonly type: 'grant'; readonly stateId: string; readonly epoch: number };

export type IncomingType = Incoming['type'];

/** A message that was checked, with what its header says. */
export interface Received {
  readonly message: Incoming;
  readonly requestId: string;
  readonly sequence: number;
}

/** What the program sends beside its presence. */
export type OutgoingType = 'proof' | 'echoed' | 'relinquished' | 'withdrawn' | 'granted' | 'first-write';

const CHALLENGE = /^[0-9a-f]{64}$/;

/**
 * Reads one line. Throws when the message is not the authority's word to this activation on this fleet and machine:
 * signature, schema, audience and subject (I5). The sequence is the session's to check.
 */
export function readMessage(line: unknown, launch: LaunchDocument, authority: KeyObject): Received {
  const shape = new Shape(line, 'message');
  const type = shape.text('type');
  const { envelope, payload } = readEnvelope(shape.raw('envelope'));
  if (!signedBy(envelope, authority)) throw new SyntaxError(`${type}: not signed by the authority`);
  const body = new Shape(payload, type);
  const header = body.object('header');
  const audience = readAudience(header);
  if (header.text('schema') !== `idunn.channel-${type}/v1`) throw new SyntaxError(`${type}: another schema`);
  if (header.text('issuer') !== launch.authority.keyId) throw new SyntaxError(`${type}: another issuer`);
  if (audience.fleet !== launch.audience.fleet || audience.machine !== launch.audience.machine) {
    throw new SyntaxError(`${type}: meant for ${audience.fleet} on ${audience.machine}`);
  }
  if (header.text('subject') !== launch.activation) throw new SyntaxError(`${type}: meant for another activation`);
  return { message: readBody(type, body), requestId: header.text('requestId'), sequence: header.integer('sequence') };
}

function readBody(type: string, body: Shape): Incoming {
  switch (type) {
    case 'hello':
      return { type, challenge: readChallenge(body.text('challenge')) };
    case 'welcome':
      return { type, counterChallenge: readChallenge(body.text('counterChallenge')) };
    case 'echo':
      return { type, nonce: body.text('nonce') };
    case 'relinquish':
      return { type, epoch: body.integer('epoch'), termMs: body.nullable('termMs', () => body.integer('termMs')) };
    case 'withdraw':
      return { type, relinquishId: body.text('relinquishId') };
    case 'grant':
      return { type, stateId: body.text('stateId'), epoch: body.integer('epoch', 1) };
    default:
      throw new SyntaxError(`${type}: an unknown message`);
  }
}

function readChallenge(text: string): string {
  if (!CHALLENGE.test(text)) throw new SyntaxError('a challenge has 64 hexadecimal digits');
  return text;
}

/** One message of the program, signed by the activation's key. */
export function signMessage(
  type: OutgoingType,
  fields: JsonObject,
  header: { readonly requestId: string; readonly sequence: number },
  launch: LaunchDocument,
  key: SigningKey,
): { readonly type: OutgoingType; readonly envelope: Envelope } {
  const payload = {
    header: {
      schema: `idunn.channel-${type}/v1`,
      issuer: key.keyId,
      audience: launch.audience,
      subject: launch.activation,
      ...header,
    },
    ...fields,
  };
  return { type, envelope: signEnvelope(payload, [key]) };
}
