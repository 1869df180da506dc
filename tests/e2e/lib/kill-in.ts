import assert from 'node:assert/strict';
import type { Fleet } from './fleet.ts';

/**
 * Submits a deployment and kills the daemon as soon as its transaction is seen in the phase; answers its transaction.
 */
export async function killIn(
  fleet: Fleet,
  at: { readonly pid: number; readonly target: string; readonly phase: string; readonly operation: string },
): Promise<string> {
  const { pid, target, phase, operation } = at;
  const receipt = await fleet.client.command({ kind: 'up', operationId: operation, target, ref: null });
  assert.ok(receipt.ok, receipt.ok ? '' : receipt.refusal.reason);
  const { transaction } = receipt.value;
  const stop = new AbortController();
  let seen = false;
  for await (const followed of fleet.client.events({ transaction, signal: stop.signal })) {
    const phases =
      followed.kind === 'snapshot'
        ? followed.transaction.phases.map((one) => one.phase)
        : followed.kind === 'event' && followed.event.event === 'phase'
          ? [followed.event.phase]
          : [];
    if (phases.includes(phase)) {
      process.kill(pid, 'SIGKILL');
      seen = true;
      stop.abort();
    } else if (followed.kind === 'event' && followed.event.event === 'outcome') stop.abort();
  }
  assert.ok(seen, `${phase} was seen`);
  return transaction;
}
