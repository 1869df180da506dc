import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { isErrno } from './proc.ts';

/** Both ends of an activation's fifo, for the moment of the spawn. */
export interface PipeEnds {
  readonly read: number;
  /** Inherited by the program; the kernel closes it when the last holder dies. */
  readonly write: number;
}

/** Opens the fifo for a start: the read end first, so that the write end never blocks. */
export function openBothEnds(fifo: string): PipeEnds {
  const read = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { read, write: openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

export function closeEnds(ends: PipeEnds): void {
  closeSync(ends.read);
  closeSync(ends.write);
}

/**
 * Calls `onEnd` once, when nobody holds the write end any more: at once when that is so already, which is how a
 * restarted daemon learns of a death that it missed. The end of the pipe is a hint; the identity decides.
 */
export function watchPipe(fifo: string, onEnd: () => void): () => void {
  let descriptor: number;
  try {
    descriptor = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    setImmediate(onEnd);
    return () => {};
  }
  // A fifo that had no writer when it was opened never reports its end to poll; a read does.
  if (hasEnded(descriptor)) {
    closeSync(descriptor);
    setImmediate(onEnd);
    return () => {};
  }
  const socket = new Socket({ fd: descriptor, readable: true, writable: false });
  let open = true;
  const end = (): void => {
    if (!open) return;
    open = false;
    socket.destroy();
    onEnd();
  };
  socket.on('end', end).on('error', end).resume();
  return () => {
    open = false;
    socket.destroy();
  };
}

function hasEnded(descriptor: number): boolean {
  try {
    return readSync(descriptor, Buffer.alloc(1)) === 0;
  } catch (error) {
    if (isErrno(error, 'EAGAIN')) return false;
    throw error;
  }
}
