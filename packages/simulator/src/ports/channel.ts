import type { ChannelPort, RelinquishAnswer } from '@idunn/authority';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import { type Opening, openGate } from '../world/gate.ts';
import { reconsider, takeGrant } from '../world/life.ts';
import { whenAwake } from '../world/pause.ts';
import type { World } from '../world/world.ts';
import { denied } from './lies.ts';
import type { Life } from './life.ts';

const CLOSED = {
  gone: 'gate-process-gone',
  'opened-otherwise': 'gate-opened-otherwise',
  'stays-closed': 'gate-stays-closed',
} as const;

type Reached = { readonly opening: Promise<Opening> | null } | 'nobody' | 'silent';

/** The lease connections of one engine's life. */
export function fakeChannel(world: World, life: Life): ChannelPort {
  const open = new Set<string>();
  const connected = (activation: string) => {
    const process = world.processes.get(activation);
    return process?.alive === true && open.has(activation) ? process : null;
  };
  return {
    open: (handle) =>
      life.effect(
        'open-channel',
        (): Outcome<'open'> => {
          const process = world.processes.get(handle.activation);
          if (process === undefined || !process.alive || !process.listening || process.paused) {
            return refused(refusal('channel-not-listening', `${handle.activation} does not listen.`));
          }
          open.add(handle.activation);
          return ok('open');
        },
        { lies: { claimed: () => ok('open'), denied } },
      ),
    presence: (activation) => {
      const process = connected(activation);
      const presence = process?.heard() ?? null;
      const nowMs = world.time.monotonicMs;
      // What runs says so again and again.
      return presence === null ? absent : seen({ presence, ageMs: nowMs - (process?.quietSinceMs ?? nowMs) });
    },
    echo: (activation) =>
      life.effect(
        'echo',
        (): Evidence<Readonly<Record<string, string>>> => {
          const process = connected(activation);
          if (process === null || process.paused) return unknown('no answer');
          const rows = world.stateOf(process.activation.target).rows;
          if (process.gate !== 'none') return unknown('its program keeps no row');
          // A database of its own is a copy of the one that it was started beside, and what lies in it stays there.
          const read = process.behaviour === 'own-database' ? process.copied : rows;
          return seen(Object.fromEntries([...read].map(([store, row]) => [store, row.nonce ?? 'none'])));
        },
        { lies: { garbled: () => unknown('the answer was not what was asked for') } },
      ),
    relinquish: (activation, { requestId, epoch, termMs }, withinMs) =>
      life
        .effect(
          'relinquish',
          (): RelinquishAnswer | null => {
            const process = connected(activation);
            const deaf = process?.behaviour === 'ignores-relinquish' || process?.behaviour === 'own-database';
            if (process === null || deaf) return null;
            world.ledger.note({ kind: 'asked', activation });
            const { lastWriteAtMs } = process;
            // It says so, and writes on for as long as its row lets it.
            if (process.behaviour === 'feigns-relinquish') return { kind: 'relinquished', lastWriteAtMs };
            whenAwake(process, () => {
              process.relinquished = { requestId, epoch };
              world.time.after(termMs, () => {
                if (process.relinquished?.requestId === requestId) reconsider(world, process);
              });
            });
            return process.paused ? null : { kind: 'relinquished', lastWriteAtMs };
          },
          { lies: { denied: () => null }, far: true },
        )
        .then(async (answer): Promise<RelinquishAnswer> => {
          if (answer !== null) return answer;
          await world.time.sleep(withinMs);
          return life.read(() => ({ kind: 'silent', because: 'no answer in time' }));
        }),
    withdraw: (activation) =>
      life.effect(
        'withdraw',
        () => {
          const process = connected(activation);
          if (process !== null) whenAwake(process, () => reconsider(world, process));
        },
        { lies: { claimed: () => undefined }, far: true },
      ),
    grant: async (activation, { epoch }) => {
      const reached = await life.effect(
        'grant',
        (): Reached => {
          const process = connected(activation);
          if (process === null) return 'nobody';
          if (process.gate === 'none') whenAwake(process, () => takeGrant(world, process, epoch));
          else return { opening: openGate(world, life, process, epoch) };
          return process.paused ? 'silent' : { opening: null };
        },
        { lies: { denied: () => 'silent' as const }, far: true },
      );
      if (reached === 'nobody') return refused(refusal('channel-closed', `${activation} is not connected.`));
      if (reached === 'silent') return refused(refusal('channel-silent', `${activation} did not confirm ${epoch}.`));
      const opened = reached.opening === null ? 'open' : await reached.opening;
      return opened === 'open' ? ok('delivered') : refused(refusal(CLOSED[opened], `The gate of ${activation}.`));
    },
    close: async (activation) => {
      open.delete(activation);
    },
    subscribe: (listener) => {
      world.listeners.said = (process) =>
        life.deliver(() => {
          const presence = connected(process.id)?.heard() ?? null;
          const { target } = process.activation;
          if (presence !== null) listener({ kind: 'presence', target, activation: process.id, presence });
        });
      world.listeners.firstWrite = (process, epoch) =>
        life.deliver(() => {
          const { target } = process.activation;
          listener({ kind: 'first-write', target, activation: process.id, epoch, atMs: world.time.monotonicMs });
        });
      world.listeners.closed = (process) =>
        life.deliver(() => {
          if (open.delete(process.id))
            listener({ kind: 'closed', target: process.activation.target, activation: process.id });
        });
    },
  };
}
