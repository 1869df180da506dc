import { moment, type Outcome, ok } from '@idunn/kernel';
import { decideContinuity as decideContinuityStep } from '../decisions/continuity.ts';
import { decide as decideStep } from '../decisions/decide.ts';
import type { EngineOptions, EnginePorts } from '../ports/engine-ports.ts';
import type { ObserverPort } from '../ports/observer-port.ts';
import { WHOLE_FLEET } from '../stops/record.ts';
import { TargetActor } from './actor.ts';
import { takeUp } from './adopt.ts';
import type { Command, EngineApi, EngineEvent, OperationReceipt, Withdrawal } from './api.ts';
import { CertificateWatch } from './certificate-watch.ts';
import { BuildGate, releasesToKeep } from './collect.ts';
import type { EngineCore } from './core.ts';
import { IncidentBook } from './incident-book.ts';
import { takeIn } from './intake.ts';
import { Journal } from './journal.ts';
import { Library } from './library.ts';
import { LinkWatch } from './link-watch.ts';
import { isoAt, transactionView } from './show.ts';
import { StopBook } from './stop-book.ts';
import { VerdictWatch } from './verdict-watch.ts';
import { targetView } from './views.ts';
import { withdraw } from './withdraw.ts';

/**
 * The engine: load, decide, persist by compare-and-swap, act, observe, persist. Woken by commands, driver events,
 * presences and due times, per target; nothing scans.
 *
 * @example
 * const engine = createEngine(ports, { fleet: 'home', machine: 'local', observerTarget: 'observer', targets });
 * await engine.start();
 * await engine.submit({ kind: 'up', target: 'ghostlight', ref: null, operationId, actor: 'ada', tenant: 'local' });
 *
 * `decide` is replaceable for the simulator's broken variants only.
 */
export function createEngine(
  ports: EnginePorts,
  options: EngineOptions,
  decide: typeof decideStep = decideStep,
  decideContinuity: typeof decideContinuityStep = decideContinuityStep,
): EngineApi {
  const journal = new Journal(ports.store);
  const library = new Library(journal);
  const actors = new Map<string, TargetActor>();
  const listeners = new Set<(event: EngineEvent) => void>();
  const observers = new Set<ObserverPort>();
  const gate = new BuildGate();
  let stopped = false;
  let linkDown = false;

  const core: EngineCore = {
    ports,
    journal,
    library,
    incidents: new IncidentBook(
      ports,
      journal,
      (event) => core.emit(event),
      (fault) => core.fault(fault, 'incidents'),
      options.notifies ?? false,
    ),
    witness: { ports, options, journal, linkDown: () => linkDown, standing: () => verdicts.standing() },
    get stopped() {
      return stopped;
    },
    decide,
    decideContinuity,
    fresh: () => ({
      activation: ports.ids.fresh('act'),
      nonce: ports.ids.fresh('nonce'),
      request: ports.ids.fresh('req'),
    }),
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    fault: (fault, target) => options.onFault?.(fault, target),
    takenPorts: (except) => [...actors.values()].filter(({ target }) => target !== except).flatMap(portsOf),
    building: (kind, work) => (kind === 'materialize' || kind === 'seal' ? gate.build(work) : work()),
    concluded: (target) => {
      certificates.lookAt(actors.get(target));
      links.look();
      // The observer's admission is what its dependents wait for.
      if (target === options.observerTarget) for (const actor of actors.values()) actor.wake();
      if (stopped) return;
      gate.collectWhenIdle(
        () => ![...actors.values()].some(builds),
        async () => ports.release.collect(await releasesToKeep(core)),
        (fault) => core.fault(fault, target),
      );
    },
  };

  const certificates = new CertificateWatch(core, () => actors.values());
  const verdicts = new VerdictWatch(core, () => actors.values());
  const links = new LinkWatch(core, () => {
    const { observerTarget } = options;
    return observerTarget === null || (actors.get(observerTarget)?.record?.value.admitted ?? null) !== null;
  });
  const stops = new StopBook(core, (target) => {
    for (const actor of target === WHOLE_FLEET ? actors.values() : [actors.get(target)]) actor?.wake();
  });

  function actorOf(target: string): TargetActor {
    const known = actors.get(target);
    if (known !== undefined) return known;
    const actor = new TargetActor(core, target);
    actors.set(target, actor);
    listenTo(ports.observerFor(target));
    return actor;
  }

  function listenTo(observer: ObserverPort): void {
    if (observers.has(observer)) return;
    observers.add(observer);
    observer.subscribe((event) => {
      if (stopped) return;
      if (event.kind === 'link') {
        if (options.observerTarget === null || observer !== ports.observerFor(options.observerTarget)) {
          linkDown = event.state === 'down';
          verdicts.link(event.state);
        }
        for (const actor of actors.values()) {
          if (event.state === 'up') actor.linked();
          else actor.wake();
        }
      } else {
        const target = targetIn(event.correlation.incarnation);
        actors.get(target)?.wake();
        verdicts.heard(target);
      }
    });
  }

  ports.workload.subscribe((event) => {
    if (stopped) return;
    actors.get(event.target)?.doubt();
  });
  ports.channel.subscribe((event) => {
    if (stopped) return;
    const actor = actors.get(event.target);
    if (actor === undefined) return;
    if (event.kind === 'first-write') {
      actor.wrote(event.activation, { epoch: event.epoch, atMs: event.atMs });
    }
    if (event.kind === 'closed') actor.closed(event.activation);
    actor.wake();
  });
  ports.route.subscribe?.((event) => {
    if (stopped) return;
    if (event.kind === 'certificates' || (event.kind === 'link' && event.state === 'up')) certificates.look();
    for (const actor of actors.values()) {
      if (event.kind === 'link' && event.state === 'up') actor.linked();
      else if (event.kind === 'link') actor.doubt();
      else if (event.kind === 'drained') actor.drained(event.incarnation);
    }
  });

  async function takeBack(command: Withdrawal): Promise<Outcome<OperationReceipt>> {
    // As of a command: it may have been taken, of whichever target.
    const lost = (fault: unknown): never => {
      for (const actor of actors.values()) actor.invalidate();
      throw fault;
    };
    const withdrawn = await withdraw({ ports, options, journal }, command).catch(lost);
    if (!withdrawn.ok) return withdrawn;
    const { receipt, ended } = withdrawn.value;
    const { target, transaction } = receipt;
    const at = isoAt(moment(ports.clock));
    if (ended !== null) core.emit({ event: 'outcome', at, target, transaction, ...ended });
    actorOf(target).invalidate();
    return ok(receipt);
  }

  return {
    async start(): Promise<void> {
      await core.incidents.load();
      const [targets, kept] = await Promise.all([journal.all('target'), journal.all('continuity')]);
      const continuity = new Map(kept.map((held) => [held.value.target, held]));
      const found = targets.map((target) => ({
        actor: actorOf(target.value.target),
        target,
        continuity: continuity.get(target.value.target) ?? null,
      }));
      await takeUp(core, found);
      stops.start();
      certificates.start();
      links.start();
      verdicts.start();
    },

    async submit(command: Command | Withdrawal): Promise<Outcome<OperationReceipt>> {
      if ('transaction' in command) return takeBack(command);
      const { target } = command;
      // One whose answer was lost may have been taken: it is begun all the same, and not only when it is repeated.
      const lost = (fault: unknown): never => {
        if (options.targets().includes(target)) actorOf(target).invalidate();
        throw fault;
      };
      const taken = await takeIn({ ports, options, journal }, command).catch(lost);
      if (taken.ok && !taken.value.repeated) {
        const { transaction, ahead } = taken.value;
        const at = new Date(ports.clock.wallMs()).toISOString();
        core.emit({ event: 'queued', at, target, transaction, ahead: ahead.length });
        actorOf(target).invalidate();
      }
      return taken;
    },

    async target(target) {
      const known = actors.has(target) || options.targets().includes(target);
      return known ? targetView(core, actors.get(target) ?? null, target) : null;
    },

    async targets() {
      const names = [...new Set([...options.targets(), ...actors.keys()])].sort();
      return Promise.all(names.map((target) => targetView(core, actors.get(target) ?? null, target)));
    },

    async transaction(id) {
      const held = await journal.read('transaction', id);
      if (held === null) return null;
      const lane = actors.get(held.value.target)?.lanes.get(id);
      return transactionView(held.value, lane?.waiting ?? null, moment(ports.clock));
    },

    incidents: () => core.incidents.all(),

    untold: () => core.incidents.untold(),

    noteTold: (incident, state) => core.incidents.told(incident, state),

    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async stop() {
      stopped = true;
      for (const actor of actors.values()) actor.abortAll();
      certificates.stop();
      verdicts.stop();
      await stops.stop();
      await Promise.all([core.incidents.stop(), ...[...actors.values()].map((actor) => actor.settled())]);
    },
  };
}

const targetIn = (incarnation: string): string => incarnation.slice(0, incarnation.lastIndexOf('@'));

/** Ports of what lives, is about to, or may be named by a route still: no two launches of a fleet share one. */
const portsOf = ({ record, lanes }: TargetActor): readonly number[] => {
  const living = [record?.value.admitted, record?.value.stranded];
  return [...new Set([...living, ...[...lanes.values()].map(({ tx }) => tx.state)].flatMap(portsIn))];
};

/** What was found in a part of a record; parts are replaced, never changed. */
const foundIn = new WeakMap<object, readonly number[]>();

function portsIn(part: unknown): readonly number[] {
  if (typeof part !== 'object' || part === null) return [];
  const known = foundIn.get(part);
  if (known !== undefined) return known;
  const found = Object.entries(part).flatMap(([name, item]: [string, unknown]) =>
    name === 'port' && typeof item === 'number' ? [item] : portsIn(item),
  );
  foundIn.set(part, found);
  return found;
}

const builds = (actor: TargetActor): boolean =>
  [...actor.lanes.values()].some(({ tx }) => tx.state.phase === 'materialized' || tx.state.phase === 'sealed');
