import { join } from 'node:path';
import { digestBytes, type Outcome, ok, refusal, refused } from '@idunn/kernel';

/** `sun_path` of a Unix socket holds 108 bytes, the closing zero among them. */
export const SOCKET_PATH_LIMIT_BYTES = 107;

/** The files of an activation directory. All of them are named here: what is not named is never deleted. */
export interface ActivationFiles {
  readonly directory: string;
  /** Signed launch document; written last, so a directory that has it is whole. */
  readonly launch: string;
  /** The activation record in an envelope of the authority: what a repeated mint answers. */
  readonly activation: string;
  readonly activationKey: string;
  readonly signerKey: string;
  readonly secrets: string;
  /** Made by the program. */
  readonly socket: string;
  /** A fifo whose write end the program inherits: its end of file tells the death. */
  readonly alive: string;
  /** Created exclusively before the one start. */
  readonly ticket: string;
  /** Identity of the started process. */
  readonly process: string;
  /** What a launcher, or a rehearser, is told. */
  readonly orders: string;
  /** Made by the launcher, which listens there for its grant. */
  readonly gate: string;
  /** Made by the launcher before it becomes the program. */
  readonly opened: string;
}

/** The directory's name is short because a socket's path is: 16 hexadecimal digits of the activation id's digest. */
export function activationFiles(runtime: string, activation: string): ActivationFiles {
  const directory = join(runtime, 'a', digestBytes(activation).slice(7, 23));
  return {
    directory,
    launch: join(directory, 'launch.json'),
    activation: join(directory, 'activation.json'),
    activationKey: join(directory, 'activation.key'),
    signerKey: join(directory, 'signer.key'),
    secrets: join(directory, 'secrets'),
    socket: join(directory, 'channel.sock'),
    alive: join(directory, 'alive'),
    ticket: join(directory, 'ticket.json'),
    process: join(directory, 'process.json'),
    orders: join(directory, 'orders.json'),
    gate: join(directory, 'gate.sock'),
    opened: join(directory, 'opened.json'),
  };
}

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
