import { join } from 'node:path';
import { digestBytes, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { namesIn } from './files.ts';

/** `sun_path` of a Unix socket holds 108 bytes, the closing zero among them. */
export const SOCKET_PATH_LIMIT_BYTES = 107;

/**
 * The files of an activation, all of them: what is not named here is never deleted. `directory` is the program's, and
 * belongs to its user where it has one; `own` is the authority's, and nothing that it relies on lies anywhere else.
 */
export interface ActivationFiles {
  readonly directory: string;
  readonly own: string;
  /** Signed launch document; written last, so an activation that has it is whole. */
  readonly launch: string;
  /** The same for a program that speaks for itself. */
  readonly document: string;
  /** The activation record in an envelope of the authority: what a repeated mint answers. */
  readonly activation: string;
  /** In `directory` or in `own`: with whoever speaks for the program. */
  readonly keys: { readonly program: KeyFiles; readonly attendant: KeyFiles };
  readonly secrets: string;
  /** The same again, for taking them out of what is shown, and for whoever speaks for the program. */
  readonly keptSecrets: string;
  /** Made by the program. */
  readonly socket: string;
  /** A fifo whose write end the program inherits: its end of file tells the death. */
  readonly alive: string;
  /** Created exclusively before the one start. */
  readonly ticket: string;
  /** Identity of the started process. */
  readonly process: string;
  /** What a launcher is told. */
  readonly orders: string;
  /** Made by the launcher, which listens there for its grant. */
  readonly gate: string;
  /** Made by the launcher before it becomes the program. */
  readonly opened: string;
  /** Says of an activation that was retired that nobody was left of it. */
  readonly gone: string;
}

interface KeyFiles {
  readonly activation: string;
  readonly signer: string;
}

const keysIn = (directory: string): KeyFiles => ({
  activation: `${directory}/activation.key`,
  signer: `${directory}/signer.key`,
});

/** The directory's name is short because a socket's path is: 16 hexadecimal digits of the activation id's digest. */
export const activationFiles = (runtime: string, activation: string): ActivationFiles =>
  filesNamed(runtime, digestBytes(activation).slice(7, 23));

/** The files under one name of `keptNames`, whatever activation they are of. */
export function filesNamed(runtime: string, name: string): ActivationFiles {
  const directory = join(runtime, 'a', name);
  const own = join(runtime, 'own', name);
  return {
    directory,
    own,
    launch: `${own}/launch.json`,
    document: `${directory}/launch.json`,
    activation: `${own}/activation.json`,
    keys: { program: keysIn(directory), attendant: keysIn(own) },
    secrets: `${directory}/secrets`,
    keptSecrets: `${own}/secrets`,
    socket: `${directory}/channel.sock`,
    alive: `${own}/alive`,
    ticket: `${own}/ticket.json`,
    process: `${own}/process.json`,
    orders: `${directory}/orders.json`,
    gate: `${directory}/gate.sock`,
    opened: `${directory}/opened.json`,
    gone: join(runtime, 'gone', name),
  };
}

/** The names of the activations that are kept, of daemons before this one too. */
export const keptNames = (runtime: string): Promise<readonly string[]> => namesIn(join(runtime, 'own'));
/** Refuses a runtime directory under which no program could listen. */
export function checkSocketPath(socket: string): Outcome<'fits'> {
  const bytes = Buffer.byteLength(socket);
  if (bytes <= SOCKET_PATH_LIMIT_BYTES) return ok('fits');
  return refused(
    refusal(
      'socket-path-too-long',
      `The socket path ${socket} has ${bytes} bytes; a Unix socket may have ${SOCKET_PATH_LIMIT_BYTES}.`,
    ),
  );
}

/** A name that is one plain path segment; ids and secret names become file names only through this. */
export const isSegment = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name);
