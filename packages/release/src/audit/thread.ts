import { parentPort, workerData } from 'node:worker_threads';
import { auditRelease } from './audit.ts';
import type { AuditRequest } from './request.ts';

/** The audit's own thread: digesting gigabytes never holds up the daemon's loop. */
if (parentPort === null) throw new Error('this module is the audit’s thread');
parentPort.postMessage(await auditRelease(workerData as AuditRequest));
