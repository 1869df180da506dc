import type { Audience } from '../words/envelope.ts';
import { publicKeyFromBase64, readEnvelope, signedBy } from '../words/envelope.ts';
import { Shape, ShapeError, textItem } from '../words/shape.ts';
import { type AttendedContract, readAttended } from './attended.ts';

export const LAUNCH_SCHEMA = 'idunn.launch/v1';

export interface StoreLocation {
  readonly id: string;
  readonly kind: 'sqlite' | 'files' | 'postgres';
  /** Absolute. */
  readonly path: string;
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A key of the other side. */
export interface Peer {
  readonly keyId: string;
  /** Raw Ed25519, base64. */
  readonly publicKey: string;
}

/** What the authority says about this launch, once its signature was checked. */
export interface LaunchDocument {
  readonly audience: Audience;
  readonly target: string;
  readonly incarnation: string;
  readonly activation: string;
  readonly authority: Peer;
  /** `null` for the observer itself. */
  readonly observer: (Peer & { readonly socket: string }) | null;
  readonly endpoint: Endpoint | null;
  /** The commit that was built. */
  readonly revision: string;
  readonly state: {
    readonly stateId: string;
    readonly schema: string;
    readonly accepts: readonly string[];
    readonly stores: readonly StoreLocation[];
  } | null;
  readonly presenceEveryMs: number;
  /** `null` where the program speaks for itself. */
  readonly attended: AttendedContract | null;
  /** Names; each is a file `secrets/NAME`. */
  readonly secrets: readonly string[];
}

/** Reads `launch.json`'s value. Throws `ShapeError`, `SyntaxError` or `TypeError` for what is no launch document. */
export function readLaunchDocument(value: unknown): LaunchDocument {
  const { envelope, payload } = readEnvelope(value);
  const launch = readPayload(new Shape(payload, 'launch'));
  if (!signedBy(envelope, publicKeyFromBase64(launch.authority.publicKey))) {
    throw new ShapeError('launch', 'signed by the authority that it names');
  }
  return launch;
}

function readPayload(shape: Shape): LaunchDocument {
  const header = shape.object('header');
  if (header.text('schema') !== LAUNCH_SCHEMA) throw new ShapeError('launch.header.schema', LAUNCH_SCHEMA);
  return {
    audience: readAudience(header),
    target: shape.text('target'),
    incarnation: shape.text('incarnation'),
    activation: shape.text('activation'),
    authority: readPeer(shape.object('authority')),
    observer: shape.nullable('observer', () => {
      const observer = shape.object('observer');
      return { ...readPeer(observer), socket: observer.text('socket') };
    }),
    endpoint: shape.nullable('endpoint', () => readEndpoint(shape.object('endpoint'))),
    revision: shape.object('expected').text('revision'),
    state: shape.nullable('state', () => readState(shape.object('state'))),
    presenceEveryMs: shape.integer('presenceEveryMs', 1),
    attended: shape.nullable('attended', () => readAttended(shape.object('attended'), shape.object('expected'))),
    secrets: shape.list('secrets', textItem),
  };
}

export function readAudience(header: Shape): Audience {
  const audience = header.object('audience');
  return { fleet: audience.text('fleet'), machine: audience.text('machine') };
}

const readPeer = (shape: Shape): Peer => ({ keyId: shape.text('keyId'), publicKey: shape.text('publicKey') });

const readEndpoint = (shape: Shape): Endpoint => ({ host: shape.text('host'), port: shape.integer('port', 1) });

function readState(state: Shape): NonNullable<LaunchDocument['state']> {
  return {
    stateId: state.text('stateId'),
    schema: state.text('schema'),
    accepts: state.list('accepts', textItem),
    stores: state.list('stores', (item, path) => {
      const store = new Shape(item, path);
      const kind = store.text('kind');
      if (kind !== 'sqlite' && kind !== 'files' && kind !== 'postgres') {
        throw new ShapeError(`${path}.kind`, 'a known kind of store');
      }
      return { id: store.text('id'), kind, path: store.text('path') };
    }),
  };
}
