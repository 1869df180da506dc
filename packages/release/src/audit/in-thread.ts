import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type AuditCheck, unseen } from './check.ts';
import type { AuditRequest } from './request.ts';

/** The same program from source and from what was built: it ends as this file does. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? 'thread.ts' : 'thread.js', import.meta.url);

/** Audits a release in a thread of its own, which ends with the answer or when `signal` aborts. */
export async function auditInThread(request: AuditRequest, signal: AbortSignal): Promise<readonly AuditCheck[]> {
  const worker = new Worker(THREAD, { workerData: request });
  try {
    const [checks] = (await once(worker, 'message', { signal })) as [readonly AuditCheck[]];
    return checks;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [unseen('installed release', signal.aborted ? 'it was withdrawn before it was done' : error.message)];
  } finally {
    await worker.terminate();
  }
}
