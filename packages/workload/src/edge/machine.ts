import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';

/** Time, identity and chance as a port, so that tests own them. */
export interface Machine {
  /** CLOCK_MONOTONIC in milliseconds; comparable between processes of one boot. Durations use nothing else (F29). */
  monotonicMs(): number;
  /** Calls `fire` once after `delayMs`, without keeping the program alive; the returned function withdraws it. */
  after(delayMs: number, fire: () => void): () => void;
  /** The id of the process that really runs, asked anew each time: a fork changes it. */
  processId(): number;
  /** 64 hexadecimal digits that nobody could foresee. */
  randomHex(): string;
}

const CHALLENGE_BYTES = 32;

export const realMachine: Machine = {
  monotonicMs: () => Math.round(Number(process.hrtime.bigint()) / 1e3) / 1e3,
  after(delayMs, fire) {
    const timer = setTimeout(fire, delayMs);
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  },
  processId() {
    try {
      return Number(readlinkSync('/proc/self')); // Node remembers process.pid from its start; the kernel does not.
    } catch {
      return process.pid;
    }
  },
  randomHex: () => randomBytes(CHALLENGE_BYTES).toString('hex'),
};
