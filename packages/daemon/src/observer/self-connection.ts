import type { ChannelPort, ObserverPort, WorkloadPort } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';

const RETRY_MS = { first: 50, most: 2_000 };

/**
 * Keeps the lease connection to the observer's own processes open: the daemon correlates that target itself, and
 * hears it nowhere else. A process that is seen gone is let go; one that cannot be reached is tried for as long as it
 * may live (I10).
 */
export function selfConnection(parts: {
  readonly target: string;
  readonly channel: ChannelPort;
  readonly workload: WorkloadPort;
  readonly timers: Timers;
}): { hold(activation: string): void; stop(): void } {
  const { target, channel, workload, timers } = parts;
  const held = new Map<string, { cancel: () => void }>();
  let stopped = false;

  async function reach(activation: string, retryMs: number): Promise<void> {
    const reached = await tryOnce(activation);
    if (reached === 'gone') held.delete(activation);
    const line = held.get(activation);
    if (reached === 'open' || stopped || line === undefined) return;
    const next = Math.min(retryMs * 2, RETRY_MS.most);
    line.cancel = timers.after(retryMs, () => void reach(activation, next));
  }

  /** A driver that throws has seen nothing (I10): it is asked again. */
  async function tryOnce(activation: string): Promise<'open' | 'gone' | 'not-yet'> {
    try {
      const found = await workload.find(target, activation);
      if (found.kind !== 'seen') return found.kind === 'absent' ? 'gone' : 'not-yet';
      return (await channel.open(found.value)).ok ? 'open' : 'not-yet';
    } catch {
      return 'not-yet';
    }
  }

  function hold(activation: string): void {
    if (stopped || held.has(activation)) return;
    held.set(activation, { cancel: () => undefined });
    void reach(activation, RETRY_MS.first);
  }

  channel.subscribe((event) => {
    const line = event.kind === 'closed' && !stopped ? held.get(event.activation) : undefined;
    if (line === undefined) return;
    line.cancel();
    line.cancel = timers.after(RETRY_MS.first, () => void reach(event.activation, RETRY_MS.first));
  });

  return {
    hold,
    stop() {
      stopped = true;
      for (const { cancel } of held.values()) cancel();
    },
  };
}

/** The observer's own port, with a connection to each activation that becomes current. */
export const withConnection = (port: ObserverPort, hold: (activation: string) => void): ObserverPort => ({
  publishExpected: (key, expected) => port.publishExpected(key, expected),
  async publishActivation(activation, observed) {
    const published = await port.publishActivation(activation, observed);
    if (published.ok) hold(activation.activation);
    return published;
  },
  demote: (key, activation) => port.demote(key, activation),
  withdraw: (key) => port.withdraw(key),
  read: (key) => port.read(key),
  subscribe: (listener) => port.subscribe(listener),
});
