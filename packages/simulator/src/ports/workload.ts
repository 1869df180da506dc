import type { LaunchRequest, MintRequest, StopAnswer, WorkloadHandle, WorkloadPort } from '@idunn/authority';
import { absent, type Evidence, keyIdOf, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { Activation, ObservedRuntime } from '@idunn/readiness';
import { UNSTARTABLE } from '../world/behaviour.ts';
import { waitAtGate } from '../world/gate.ts';
import { live } from '../world/life.ts';
import { Process } from '../world/process.ts';
import { behaviourOf, digestOf, OUR_FLEET, sealedFor } from '../world/sources.ts';
import type { World } from '../world/world.ts';
import { denied } from './lies.ts';
import { type Life, silence } from './life.ts';

/** Starts, finds, observes and stops simulated programs; one launch for each activation, ever. */
export function fakeWorkload(world: World, life: Life, fleetAt: (target: string) => string): WorkloadPort {
  const watched = new Set<string>();
  /** The process that such a request makes, before anything of it runs. */
  const made = (request: LaunchRequest): Process => {
    const commit = commitBehind(world, request);
    world.nextPid += 1;
    return new Process({
      activation: request.activation,
      pid: world.nextPid,
      bootId: world.time.bootId,
      behaviour: world.mute ?? behaviourOf(world.refs.get(commit) ?? ''),
      sealed: digestOf(`executable ${commit}`),
      stateSchema: request.state?.schema ?? null,
      gated: request.start === 'gated',
      besideRows: request.state?.fence === 'tree-empty',
      parent: world.listeners,
    });
  };
  const start = (request: LaunchRequest): Outcome<WorkloadHandle> => {
    const { activation, incarnation } = request.activation;
    const known = world.processes.get(activation);
    if (known?.alive === true) return ok(known.handle);
    if (known !== undefined || world.spent.has(activation)) {
      return refused(refusal('activation-spent', `${activation} was started before.`));
    }
    const process = made(request);
    process.relaunched = [...world.processes.values()].some((one) => one.activation.incarnation === incarnation);
    process.copied = new Map(world.stateOf(request.activation.target).rows);
    world.processes.set(activation, process);
    if (request.start === 'gated') waitAtGate(world, process);
    else live(world, process);
    return ok(process.handle);
  };
  return {
    mint: (request) =>
      life.effect(
        'mint',
        (): Outcome<Activation> => {
          const known = world.activations.get(request.activation);
          // Nothing is left of what was removed: it would be made anew.
          if (world.spent.has(request.activation))
            world.ledger.note({ kind: 'minted', activation: request.activation });
          if (known !== undefined) return ok(known);
          const key = Buffer.from(digestOf(request.activation).slice(7, 39));
          const made: Activation = {
            schema: 'idunn.activation/v1',
            activation: request.activation,
            incarnation: request.incarnation,
            target: request.expected.target,
            publicKey: key.toString('base64'),
            keyId: keyIdOf(key),
            endpoint: endpointOf(world, request),
          };
          world.activations.set(request.activation, made);
          world.fleets.set(request.activation, fleetOf(world, request));
          world.ledger.note({ kind: 'minted', activation: request.activation });
          return ok(made);
        },
        { lies: { denied } },
      ),
    start: (request) =>
      life.effect('start', (): Outcome<WorkloadHandle> => start(request), {
        lies: { claimed: () => ok(made(request).handle), denied },
        far: true,
      }),
    rehearse: async ({ release }) => {
      await world.time.sleep(world.dice.between(5, 40));
      const failed = (): Outcome<never> =>
        refused(refusal('rehearsal-failed', 'The program on the copy did not start.'));
      return life.effect(
        'rehearse',
        (): Outcome<'passed'> => {
          const plan = [...world.plans.values()].find((one) => sealedFor(one).release === release);
          const passed = !UNSTARTABLE.includes(behaviourOf(world.refs.get(plan?.source.commit ?? '') ?? ''));
          world.ledger.note({ kind: 'rehearsed', release, passed });
          return passed ? ok('passed') : failed();
        },
        { lies: { denied: failed } },
      );
    },
    find: (target, activation) =>
      life.read((): Evidence<WorkloadHandle> => {
        const process = world.processes.get(activation);
        if (process !== undefined && process.activation.target !== target) return unknown('it is a launch of another');
        return process?.treeLives === true ? seen(process.handle) : absent;
      }),
    running: (target) =>
      life.read(() => {
        const living = [...world.processes.values()].filter(
          ({ id, activation, treeLives }) =>
            treeLives && activation.target === target && world.fleets.get(id) === fleetAt(target),
        );
        return seen(living.map(({ id, handle }) => ({ activation: id, pid: handle.identity.pid })));
      }),
    observe: async (handle) => {
      if (world.stuck.has(handle.target)) return silence();
      const process = world.processes.get(handle.activation);
      const ending = process?.ending === true;
      // What is read of one that ends says nothing, and when that is told it is gone.
      if (ending) await world.time.sleep(world.endingMs);
      return life.look(
        (): Evidence<ObservedRuntime> => {
          world.looks += 1;
          if (ending) return unknown('it is just ending');
          return process?.alive === true ? seen(process.observed) : absent;
        },
        (observed) => garbled(world, observed),
      );
    },
    stop: async (handle, graceMs) => {
      const process = world.processes.get(handle.activation);
      await life.effect('stop', () => undefined);
      if (process?.alive === true) await world.time.sleep(Math.min(graceMs, world.dice.between(0, 10)));
      // It ends as it is asked to. Its child does not, and is killed after the grace.
      if (process?.child === true && life.alive) {
        world.end(process, true);
        await world.time.sleep(graceMs);
      }
      return life.look(
        (): StopAnswer => {
          if (process !== undefined) {
            world.end(process, true);
            world.empty(process);
          }
          return { kind: 'gone', proof: 'tree-empty', forced: graceMs === 0 };
        },
        () => (world.dice.hits(0.5) ? { kind: 'parent-gone' } : { kind: 'unknown', because: 'nobody was asked' }),
      );
    },
    retire: (_target, activation) =>
      life.effect('retire', () => {
        const process = world.processes.get(activation);
        if (process?.treeLives === true) throw new Error(`${activation} is retired while it lives`);
        if (world.spent.has(activation)) return;
        world.spent.add(activation);
        world.ledger.note({ kind: 'retired', activation });
      }),
    lastExit: () => life.read(() => null),
    logTail: (_target, activation) => life.read(() => [`the last line of ${activation}`]),
    watch: (handle) => {
      watched.add(handle.activation);
      const process = world.processes.get(handle.activation);
      if (process?.alive !== true) {
        const toldAfterMs = process === undefined ? 1 : world.toldOfAfterMs(process);
        world.time.after(toldAfterMs, () => world.listeners.died(handle.target, handle.activation));
      }
    },
    subscribe: (listener) => {
      world.listeners.died = (target, activation) =>
        life.deliver(() => {
          if (watched.has(activation)) listener({ kind: 'died', target, activation });
        });
    },
  };
}

function endpointOf(world: World, { launch }: MintRequest): Activation['endpoint'] {
  if (launch.endpoint === null) return null;
  const { host, fromPort, toPort } = launch.endpoint;
  if (fromPort === toPort) return { host, port: fromPort };
  world.nextPort += 1;
  return { host, port: world.nextPort };
}

/** A plan is one fleet's. */
const fleetOf = (world: World, { expected }: MintRequest): string =>
  world.plans.get(expected.revision)?.fleet ?? OUR_FLEET;

/** The commit that a release was built from. */
function commitBehind(world: World, { release }: LaunchRequest): string {
  const plan = [...world.plans.values()].find((one) => sealedFor(one).release === release);
  if (plan === undefined) throw new Error(`nothing was sealed as ${release}`);
  return plan.source.commit;
}

/** It is not seen, or another program is, or another process. */
function garbled(world: World, observed: Evidence<ObservedRuntime>): Evidence<ObservedRuntime> {
  if (observed.kind !== 'seen') return observed;
  const { value } = observed;
  switch (world.dice.between(1, 4)) {
    case 1:
      return absent;
    case 2:
      return unknown('its entry cannot be read');
    case 3:
      return seen({ ...value, executable: digestOf('elsewhere') });
    default:
      return seen({ ...value, identity: { ...value.identity, pid: 1 } });
  }
}
