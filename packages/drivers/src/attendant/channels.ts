import type { ChannelPort } from '@idunn/authority';
import type { Outcome } from '@idunn/kernel';
import type { AttendantDriver } from './driver.ts';

/** Whether the activation's launch document says that its program is attended. */
export type IsAttended = (activation: string) => Promise<boolean>;

/**
 * One channel port over two: what a launch document says is attended goes by the attendant, everything else speaks for
 * itself. The document is durable, so that a restarted daemon takes the same way.
 */
export function channelsOf(embedded: ChannelPort, attendant: AttendantDriver, isAttended: IsAttended): ChannelPort {
  const byDocument = async (activation: string): Promise<ChannelPort> =>
    attendant.holds(activation) || (await isAttended(activation)) ? attendant : embedded;
  return {
    open: async (handle) => (await byDocument(handle.activation)).open(handle),
    // Only what was opened can have been heard.
    presence: (activation) => (attendant.holds(activation) ? attendant : embedded).presence(activation),
    listened: (activation) => attendant.listened?.(activation) ?? null,
    echo: async (activation, nonce, withinMs) => (await byDocument(activation)).echo(activation, nonce, withinMs),
    relinquish: async (activation, request, withinMs) =>
      (await byDocument(activation)).relinquish(activation, request, withinMs),
    withdraw: async (activation, requestId) => (await byDocument(activation)).withdraw(activation, requestId),
    grant: async (activation, grant) => (await byDocument(activation)).grant(activation, grant),
    lastReading: async (activation) => (await attendant.lastReading?.(activation)) ?? null,
    async close(activation) {
      await Promise.all([embedded.close(activation), attendant.close(activation)]);
    },
    subscribe(listener) {
      embedded.subscribe(listener);
      attendant.subscribe(listener);
    },
  };
}

/**
 * A grant is delivered once the state is open to whom it names: the row names it already, and nobody else is opened to.
 */
export function openingFirst(
  channels: ChannelPort,
  open: (activation: string) => Promise<Outcome<'open'>>,
): ChannelPort {
  return {
    ...channels,
    async grant(activation, grant) {
      const opened = await open(activation);
      return opened.ok ? channels.grant(activation, grant) : opened;
    },
  };
}
