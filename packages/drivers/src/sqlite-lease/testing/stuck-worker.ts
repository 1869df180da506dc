import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { absent } from '@idunn/kernel';
import type { WorkerCall } from '../worker-link.ts';

/** A thread that hangs in the system like one whose disk does: in each call, until somebody writes to a pipe. */
parentPort?.on('message', (call: WorkerCall | 'close') => {
  if (call === 'close') return parentPort?.close();
  readFileSync(join(call.args[0].root, 'pipe'));
  parentPort?.postMessage({ id: call.id, value: absent });
});
