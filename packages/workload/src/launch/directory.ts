import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { IdunnError, messageOf } from '../errors.ts';
import { keyFromSeed, type SigningKey } from '../words/envelope.ts';
import { type LaunchDocument, readLaunchDocument } from './document.ts';
import { Secrets } from './secrets.ts';

/** The longest path that a Unix socket's address holds, in bytes. */
export const SOCKET_PATH_LIMIT_BYTES = 107;
const OTHERS = 0o077;
const SECRET_LIMIT_BYTES = 1_048_576;

/** What one activation directory gives its program. */
export interface Activation {
  readonly launch: LaunchDocument;
  /** The activation's key first, then the service signer: the order of a presence's signatures. */
  readonly keys: readonly [SigningKey, SigningKey];
  readonly channelPath: string;
  readonly secrets: Secrets;
}

/**
 * Reads an activation directory whole; nothing is taken from a directory of another activation (I5). `publicId` is the
 * value of IDUNN_ACTIVATION, if there is one. Throws `IdunnError`.
 */
export function readActivation(directory: string, publicId: string | undefined): Activation {
  const launch = readLaunch(join(directory, 'launch.json'));
  if (publicId !== undefined && publicId !== launch.activation) {
    const reason = `${directory} belongs to activation ${launch.activation}, not to ${publicId}`;
    throw new IdunnError('workload-launch-invalid', reason);
  }
  const channelPath = join(directory, 'channel.sock');
  refuseLongSocketPath(channelPath);
  if (launch.observer !== null) refuseLongSocketPath(launch.observer.socket);
  return {
    launch,
    keys: [readKey(join(directory, 'activation.key')), readKey(join(directory, 'signer.key'))],
    channelPath,
    secrets: new Secrets(launch.secrets, (name) => readPrivate(join(directory, 'secrets', name))),
  };
}

/** Beyond the limit the kernel refuses the address, or another program might cut it short. */
export function refuseLongSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= SOCKET_PATH_LIMIT_BYTES) return;
  const reason = `The socket path ${path} has ${bytes} bytes; a Unix socket takes ${SOCKET_PATH_LIMIT_BYTES}`;
  throw new IdunnError('workload-socket-path-too-long', reason);
}

function readLaunch(path: string): LaunchDocument {
  try {
    return readLaunchDocument(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const why = messageOf(cause);
    throw new IdunnError('workload-launch-invalid', `${path} cannot be used: ${why}`, { cause });
  }
}

function readKey(path: string): SigningKey {
  const seed = Buffer.from(readPrivate(path).trim(), 'base64');
  try {
    return keyFromSeed(seed);
  } catch (cause) {
    throw new IdunnError('workload-launch-invalid', `${path} holds no Ed25519 seed`, { cause });
  }
}

/** A credential counts only while nobody else can read it. */
function readPrivate(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) throw new IdunnError('workload-launch-invalid', `${path} is missing`);
  if ((status.mode & OTHERS) !== 0) {
    throw new IdunnError('workload-credential-exposed', `${path} can be read by others than its owner`);
  }
  if (status.size > SECRET_LIMIT_BYTES) {
    throw new IdunnError('workload-launch-invalid', `${path} is larger than ${SECRET_LIMIT_BYTES} bytes`);
  }
  return readFileSync(path, 'utf8');
}
