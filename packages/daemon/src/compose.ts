import { join } from 'node:path';
import {
  createEngine,
  createStops,
  type EngineApi,
  type FreezePort,
  makeStopDirectory,
  standingStops,
} from '@idunn/authority';
import { channelsOf, chooseObserver, openingFirst } from '@idunn/drivers';
import { type Outcome, ok } from '@idunn/kernel';
import { uidOf } from '@idunn/release';
import { EventLog } from './api/event-log.ts';
import { apiServer } from './api/server.ts';
import { attendWatched } from './attendant/attending.ts';
import { createDrivers, type Drivers } from './drivers.ts';
import { type Ground, OBSERVER_TARGET } from './ground.ts';
import { metricsOf } from './metrics.ts';
import { checkSecrets, createNotifiers } from './notify/notifiers.ts';
import { observerKeeper } from './observer/keeper.ts';
import { selfConnection, withConnection } from './observer/self-connection.ts';
import { apiParts } from './parts.ts';
import { listenForRole } from './sockets.ts';
import { admittedOf } from './verify/dossier.ts';

export interface Daemon {
  /** Takes up what is unfinished, brings the observer up, and answers on the operator's socket. */
  start(): Promise<Outcome<'serving'>>;
  /** Stops answering and deciding. Router, observer and workloads run on. */
  stop(): Promise<void>;
}

/** Puts the daemon together: ground, drivers, engine, API. Nothing here decides anything. */
export async function compose(ground: Ground): Promise<Outcome<Daemon>> {
  const { notify } = ground.fleet.last.fleet;
  const means = { wallMs: () => ground.machine.clock.wallMs(), uid: ground.machine.user.uid };
  const secrets = await checkSecrets(notify, means.uid);
  if (!secrets.ok) return secrets;
  const made = await createDrivers(ground);
  if (!made.ok) return made;
  const drivers = made.value;
  const attending = attendWatched(drivers.workload, drivers.attendant, (text) =>
    ground.log.info({ part: 'attendant' }, text),
  );
  const self = selfConnection({ ...drivers, target: OBSERVER_TARGET, timers: ground.machine.timers });
  const engine = await engineOver(ground, drivers, (activation) => self.hold(activation));
  const events = new EventLog(ground.machine.ids.fresh('life'));
  const metrics = metricsOf(engine, drivers.attendant);
  const keeper = observerKeeper({
    target: OBSERVER_TARGET,
    engine,
    clock: ground.machine.clock,
    ids: ground.machine.ids,
    timers: ground.machine.timers,
    log: (text, refusal) => ground.log.info({ part: 'observer', refusal }, text),
  });
  const notifiers = createNotifiers({
    fleet: ground.fleet.last.fleet.id,
    files: notify,
    engine,
    timers: ground.machine.timers,
    means,
    // From the records alone: what is amiss with one target's disk or proxy delays no notice of another.
    redact: async (target, text) => {
      const admitted = await admittedOf(ground.store, target);
      return admitted === null ? text : drivers.workload.redact(admitted.document.activation, text);
    },
    log: (text) => ground.log.info({ part: 'notify' }, text),
  });
  engine.subscribe((event) => {
    notifiers.hear(event);
    events.append(event);
    metrics.hear(event);
    keeper.hear(event);
    // Everything else waits for the link to the observer that has just come up.
    if (event.event === 'outcome' && event.target === OBSERVER_TARGET) drivers.link.hurry();
    if (event.event !== 'progress') ground.log.info({ event }, event.event);
  });
  const server = apiServer(
    apiParts(ground, drivers, engine, () => metrics.text()),
    events,
    ground.log,
  );
  return ok({
    async start() {
      const begunMs = ground.machine.clock.monotonicMs();
      await engine.start();
      const tookMs = ground.machine.clock.monotonicMs() - begunMs;
      ground.log.info({ part: 'engine', tookMs }, 'took up what runs');
      attending.begin();
      notifiers.start();
      const listening = await listenForRole(server, ground.operatorSocket, ground.machine.timers);
      if (!listening.ok) return listening;
      const observer = await engine.target(OBSERVER_TARGET);
      if (observer?.admitted) self.hold(observer.admitted.activation);
      keeper.ensure();
      return ok('serving');
    },
    async stop() {
      keeper.stop();
      notifiers.stop();
      self.stop();
      await server.close();
      await engine.stop();
      drivers.channel.closeAll();
      drivers.attendant.letGo();
      drivers.link.close();
      drivers.bootstrap.close();
      drivers.router.close();
      await drivers.lease.close();
      drivers.workload.close();
      await ground.store.close();
    },
  });
}

/** The fleet's own stops, whose directories are there from now on: a missing one holds everything. */
async function stops({ machine, fleet, directories, log }: Ground): Promise<FreezePort> {
  const { state } = directories;
  for (const kind of ['freezes', 'holds']) {
    const made = await makeStopDirectory(join(state, kind));
    // What runs is looked after all the same; deployments, or restarts, wait with an incident.
    if (!made.ok) log.warn({ part: 'stops' }, made.refusal.reason);
  }
  const { uid, name: owner } = machine.user;
  const standing = standingStops({
    state,
    uid,
    uidOf,
    owner,
    targets: () => [OBSERVER_TARGET, ...fleet.last.targets],
    stewards: () =>
      [...fleet.last.fleet.bindings].flatMap(
        ([
          target,
          {
            binding: { steward },
          },
        ]) => (steward === undefined ? [] : [{ target, steward }]),
      ),
  });
  return { ...createStops({ state, uid, uidOf }), ...standing };
}

async function engineOver(
  ground: Ground,
  drivers: Drivers,
  holdObserver: (activation: string) => void,
): Promise<EngineApi> {
  const { machine, fleet, store } = ground;
  const { clock, timers, ids } = machine;
  const { link, bootstrap } = drivers;
  const choose = chooseObserver({ observerTarget: OBSERVER_TARGET, link, bootstrap });
  const own = withConnection(choose(OBSERVER_TARGET), holdObserver);
  drivers.channel.subscribe((event) => {
    if (event.kind === 'presence') bootstrap.hear(event.presence);
  });
  return createEngine(
    {
      clock,
      timers,
      ids,
      store,
      release: drivers.release,
      workload: drivers.workload,
      channel: openingFirst(
        channelsOf(drivers.channel, drivers.attendant, (activation) => drivers.workload.isAttended(activation)),
        (activation) => drivers.workload.openState(activation),
      ),
      lease: drivers.lease,
      route: drivers.router,
      freeze: await stops(ground),
      observerFor: (target) => (target === OBSERVER_TARGET ? own : choose(target)),
      links: { observer: link, router: drivers.router.link, attendant: drivers.attendant.link },
    },
    {
      fleet: fleet.last.fleet.id,
      machine: machine.name,
      observerTarget: OBSERVER_TARGET,
      targets: () => [...new Set([OBSERVER_TARGET, ...fleet.last.targets])],
      notifies: fleet.last.fleet.notify.length > 0,
      queueDepth: () => fleet.last.fleet.daemon.queueDepth,
      onFault: (fault, target) => ground.log.error({ err: fault, target }, 'the engine met a fault'),
    },
  );
}
