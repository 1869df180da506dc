import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { messageOf } from '../proc.ts';
import type { CopyAnswer, CopyOrders } from './copy-orders.ts';
import { copyState } from './copy-state.ts';

/**
 * Copies a state in a process of its own: POSIX locks fall when a process closes any descriptor of a file, so the
 * authority's own process never opens a living database for this.
 */
const orders = JSON.parse(await text(process.stdin)) as CopyOrders;
const answer: CopyAnswer = await copyState(orders).catch((error: unknown) => ({
  kind: 'failed',
  because: messageOf(error),
}));
writeSync(1, `${JSON.stringify(answer)}\n`);
// Whoever closes a WAL database last checkpoints it and removes its log. A process that is killed only lets go (I7).
process.kill(process.pid, 'SIGKILL');
