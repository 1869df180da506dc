import type { EngineApi, EngineEvent, OutcomeName } from '@idunn/authority';
import { type Clock, type Ids, type Refusal, risingId, type Timers } from '@idunn/kernel';

/** Wait before a deployment of the observer that failed is tried again. */
const RETRY_MS = { first: 1_000, most: 60_000 };

export interface ObserverKeeper {
  /**
   * Deploys the observer when it is not what is installed. Asked for while at work, it looks again
   * after.
   */
  ensure(): void;
  /** Tells the keeper what the engine told. */
  hear(event: EngineEvent): void;
  stop(): void;
}

/**
 * Brings the observer up by itself, as the first target of every fleet: by the same command as any other target, in
 * Idunn's own name. It is asked for at the start, and a failure is tried again with a growing wait; what dies of it is
 * brought back by continuity.
 */
export function observerKeeper(parts: {
  readonly target: string;
  readonly engine: EngineApi;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly timers: Timers;
  readonly log: (text: string, refusal: Refusal | null) => void;
}): ObserverKeeper {
  const { target, engine, clock, ids, timers, log } = parts;
  let transaction: string | null = null;
  let again = false;
  let retryMs = RETRY_MS.first;
  let cancelRetry: (() => void) | null = null;
  let stopped = false;

  async function submit(): Promise<void> {
    if (stopped) return;
    if (transaction !== null) {
      again = true;
      return;
    }
    transaction = 'being submitted';
    try {
      await ask();
    } catch (fault) {
      // A store that cannot be written stops this step, not the daemon (F28).
      transaction = null;
      log(`the observer was not asked for: ${String(fault)}`, null);
      retry();
    }
  }

  async function ask(): Promise<void> {
    const operationId = risingId(ids, clock, 'op');
    const receipt = await engine.submit({
      kind: 'up',
      ref: null,
      operationId,
      target,
      actor: 'idunn',
      tenant: 'local',
    });
    if (!receipt.ok) {
      transaction = null;
      log('the observer was not taken up', receipt.refusal);
      return retry();
    }
    transaction = receipt.value.transaction;
    const view = await engine.transaction(transaction);
    if (view?.result) ended(view.result.outcome, view.result.refusal);
  }

  function ended(outcome: OutcomeName, refusal: Refusal | null): void {
    transaction = null;
    const good = outcome === 'admitted' || outcome === 'unchanged';
    log(`the observer: ${outcome}`, refusal);
    if (good) retryMs = RETRY_MS.first;
    if (good && again) {
      again = false;
      void submit();
    } else if (!good) retry();
  }

  function retry(): void {
    if (stopped) return;
    cancelRetry?.();
    cancelRetry = timers.after(retryMs, () => void submit());
    retryMs = Math.min(retryMs * 2, RETRY_MS.most);
  }

  return {
    ensure: () => void submit(),
    hear(event) {
      if (event.event === 'outcome' && event.transaction === transaction) ended(event.outcome, event.refusal);
    },
    stop() {
      stopped = true;
      cancelRetry?.();
    },
  };
}
