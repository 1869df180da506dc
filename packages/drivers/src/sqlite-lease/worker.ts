import { parentPort } from 'node:worker_threads';
import { systemClock, systemTimers } from '@idunn/kernel';
import { LeaseStores } from './lease-stores.ts';
import type { WorkerAnswer, WorkerCall } from './worker-link.ts';

/** The thread in which one disk's stores are locked, written and synced. */
const port = parentPort;
if (port === null) throw new Error('the lease worker runs in a worker thread');
const stores = new LeaseStores(systemClock(), systemTimers);

async function answer({ id, method, args }: WorkerCall): Promise<WorkerAnswer> {
  try {
    const call = stores[method] as (...args: WorkerCall['args']) => Promise<unknown>;
    return { id, value: await call.call(stores, ...args) };
  } catch (error) {
    return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

port.on('message', (call: WorkerCall | 'close') => {
  if (call === 'close') {
    stores.close();
    port.close();
    return;
  }
  void answer(call).then((message) => port.postMessage(message));
});
