import { parentPort, workerData } from 'node:worker_threads';
import { type Share, work } from './run-seeds.ts';

/** One of the workers that share a range of seeds. */
await work(workerData as Share, (told) => parentPort?.postMessage(told));
