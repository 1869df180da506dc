import { parentPort } from 'node:worker_threads';

// A store's thread that dies of the first turn that it is given.
parentPort?.on('message', () => {
  throw new Error('out of memory');
});
parentPort?.postMessage({ kind: 'opened' });
