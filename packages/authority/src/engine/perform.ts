import { type Evidence, type Json, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { type Plan, type StateContract, startKindOf } from '@idunn/release';
import type { AnswerTo, Effect, EffectKind, EffectOf } from '../decisions/effects.ts';
import { standsAlone } from '../decisions/manner.ts';
import type { ChannelPort } from '../ports/channel-port.ts';
import type { EnginePorts } from '../ports/engine-ports.ts';
import type { LeasePort, LeaseRows } from '../ports/lease-port.ts';
import type { Library } from './library.ts';

/** Lines of a dead candidate's log that come with its refusal (F7). */
export const LAST_LINES = 20;
/** How long a process may take to read the nonce back. */
export const ECHO_MS = 1_000;

export interface Performing {
  readonly ports: EnginePorts;
  readonly library: Library;
  readonly target: string;
  readonly signal: AbortSignal;
  readonly progress: (note: { readonly step: string; readonly text: string }) => void;
  readonly takenPorts: (except: string | null) => readonly number[];
}

/**
 * Carries out one effect. A port that throws has failed in a way of its own; its words are kept, nothing is inferred.
 */
export async function perform(context: Performing, effect: Effect): Promise<Outcome<unknown>> {
  try {
    return await carryOut(context, effect);
  } catch (fault) {
    const said = fault instanceof Error ? fault.message : String(fault);
    return refused(refusal('driver-fault', `${effect.kind}: ${said}`));
  }
}

async function carryOut(context: Performing, effect: Effect): Promise<Outcome<unknown>> {
  const { ports, target, signal, progress } = context;
  switch (effect.kind) {
    case 'plan':
      return ports.release.plan({ target, ...(effect.ref === null ? {} : { ref: effect.ref }) }, signal);
    case 'materialize': {
      const staged = await ports.release.materialize(await planOf(context, effect), signal, progress);
      return staged.ok ? ok({ stage: staged.value.stage, fetchMs: staged.value.fetchMs }) : staged;
    }
    case 'seal': {
      const sealed = await ports.release.seal(await planOf(context, effect), signal, progress);
      if (!sealed.ok) return sealed;
      const { stepsMs, ...release } = sealed.value;
      return ok({ release, stepsMs });
    }
    case 'rehearse':
      return rehearse(context, effect);
    case 'stage-route': {
      const { route } = await planOf(context, effect);
      return route === null ? unfit(effect) : ports.route.stage(target, route, effect.members);
    }
    case 'hold-route':
      return ports.route.hold(effect.route, effect.termMs);
    case 'release-route':
      return ports.route.release(effect.route);
    case 'publish-route':
      return ports.route.publish(effect.staged);
    case 'observe-route':
      return seenOr(await ports.route.observe(effect.route, effect.path), {
        incarnation: null,
        status: null,
        body: null,
      });
    case 'in-flight': {
      const open = await ports.route.open(effect.route, effect.incarnation);
      return open.kind === 'absent' ? ok(0) : seenOr(open, null);
    }
    case 'open-requests': {
      const { route, incarnation, withinMs } = effect;
      const open = await (ports.route.drain?.(route, incarnation, withinMs) ?? ports.route.open(route, incarnation));
      return open.kind === 'absent' ? ok(0) : seenOr(open, null);
    }
    case 'confirm':
      return confirm(context, effect);
    case 'autopsy':
      return ok(await autopsy(context, effect));
    case 'publish-expected':
    case 'publish-activation':
    case 'demote':
    case 'withdraw-expected':
      return inform(context, effect);
    case 'mint':
    case 'start':
    case 'observe-process':
    case 'end-process':
    case 'retire':
      return handle(context, effect);
    case 'open-channel':
    case 'echo':
    case 'relinquish':
    case 'withdraw':
    case 'grant':
      return speak(context, effect);
    case 'prepare-lease':
    case 'write-claim':
    case 'write-nonce':
    case 'swap':
      return lease(context, effect);
  }
}

/** The observer's part: what is published about an incarnation. */
async function inform(
  { ports, library, target }: Performing,
  effect:
    | EffectOf<'publish-expected'>
    | EffectOf<'publish-activation'>
    | EffectOf<'demote'>
    | EffectOf<'withdraw-expected'>,
): Promise<Outcome<unknown>> {
  const observer = ports.observerFor(target);
  switch (effect.kind) {
    case 'publish-expected': {
      const incarnation = await library.incarnation(effect.subject.incarnation);
      if (incarnation === null) throw new Error('the incarnation is not recorded');
      return observer.publishExpected(effect.subject.incarnation, incarnation.expected);
    }
    case 'publish-activation':
      return observer.publishActivation(effect.document, effect.observed);
    case 'demote':
      return observer.demote(effect.incarnation, effect.activation);
    case 'withdraw-expected':
      return observer.withdraw(effect.incarnation);
  }
}

/** The workload driver's part. */
async function handle(
  context: Performing,
  effect:
    | EffectOf<'mint'>
    | EffectOf<'start'>
    | EffectOf<'observe-process'>
    | EffectOf<'end-process'>
    | EffectOf<'retire'>,
): Promise<Outcome<unknown>> {
  const { ports, library, target } = context;
  const { workload } = ports;
  switch (effect.kind) {
    case 'mint': {
      const { subject, activation } = effect;
      const plan = await planOf(context, subject);
      const incarnation = await library.incarnation(subject.incarnation);
      if (incarnation === null) throw new Error('the incarnation is not recorded');
      return workload.mint({
        requestId: activation,
        activation,
        incarnation: subject.incarnation,
        expected: incarnation.expected,
        launch: plan.launch,
        state: plan.state,
        health: plan.health,
        start: startKindOf(plan),
        // Where one is stopped before the next starts, its port is free again.
        takenPorts: plan.launch.endpoint === null ? [] : context.takenPorts(standsAlone(plan) ? target : null),
      });
    }
    case 'start': {
      const { subject, document } = effect;
      const plan = await planOf(context, subject);
      const request = {
        requestId: document.activation,
        target,
        activation: document,
        release: subject.release,
        launch: plan.launch,
        state: plan.state,
        start: startKindOf(plan),
      };
      const started = await workload.start(request);
      if (started.ok) workload.watch(started.value);
      return started;
    }
    case 'observe-process':
      return seenOr(await workload.observe(effect.handle, effect.release), null);
    case 'end-process': {
      const found = effect.handle === null ? await workload.find(target, effect.activation) : null;
      if (found?.kind === 'absent') return ok({ kind: 'gone', proof: 'tree-empty', forced: false });
      if (found?.kind === 'unknown') return ok({ kind: 'unknown', because: found.because });
      const known = effect.handle ?? found?.value;
      if (known === undefined) throw new Error('a process without a handle cannot be stopped');
      return ok(await workload.stop(known, effect.graceMs));
    }
    case 'retire':
      await ports.channel.close(effect.activation);
      await workload.retire(target, effect.activation);
      return ok('retired');
  }
}

/** A private run on a copy of the state; all of its time is the program's. */
async function rehearse(context: Performing, effect: EffectOf<'rehearse'>): Promise<Outcome<AnswerTo<'rehearse'>>> {
  const { ports, target, signal } = context;
  const { subject } = effect;
  const { launch, state, health, rehearsal } = await planOf(context, subject);
  if (state === null || rehearsal === null) return unfit(effect);
  const begunMs = ports.clock.monotonicMs();
  const { release } = subject;
  const request = { requestId: `rehearsal of ${release}`, target, release, launch, state, health, rehearsal };
  const passed = await ports.workload.rehearse(request, signal);
  return passed.ok ? ok({ tookMs: ports.clock.monotonicMs() - begunMs }) : passed;
}

/** The lease connection's part. */
async function speak(
  context: Performing,
  effect:
    | EffectOf<'open-channel'>
    | EffectOf<'echo'>
    | EffectOf<'relinquish'>
    | EffectOf<'withdraw'>
    | EffectOf<'grant'>,
): Promise<Outcome<unknown>> {
  const { channel } = context.ports;
  switch (effect.kind) {
    case 'open-channel':
      return channel.open(effect.handle);
    case 'echo': {
      const stores = (await planOf(context, effect)).state?.stores ?? [];
      const echoed = await channel.echo(effect.activation, effect.nonce, ECHO_MS);
      const carrying = stores.filter(({ kind }) => kind === 'sqlite');
      return ok(echoed.kind === 'seen' && carrying.every(({ id }) => echoed.value[id] === effect.nonce));
    }
    case 'relinquish': {
      const { requestId, epoch, termMs, withinMs } = effect;
      return ok(await channel.relinquish(effect.activation, { requestId, epoch, termMs }, withinMs));
    }
    case 'withdraw':
      await channel.withdraw(effect.activation, effect.requestId);
      return ok('withdrawn');
    case 'grant':
      return channel.grant(effect.grant.activation, effect.grant);
  }
}

/** The lease driver's part. */
async function lease(
  context: Performing,
  effect: EffectOf<'prepare-lease'> | EffectOf<'write-claim'> | EffectOf<'write-nonce'> | EffectOf<'swap'>,
): Promise<Outcome<unknown>> {
  const { state } = await planOf(context, effect);
  if (state === null) return unfit(effect);
  const port = context.ports.lease;
  switch (effect.kind) {
    case 'prepare-lease':
      return port.prepare(state);
    case 'write-claim':
      return port.writeClaim(state, effect.claim, effect.over);
    case 'write-nonce':
      return port.writeNonce(state, effect.nonce);
    case 'swap': {
      const { from, to } = effect.move;
      const { release, stateSchema, deadlineMs } = effect;
      return ok(await port.swap(state, { from, to: { ...to, release, stateSchema }, deadlineMs }));
    }
  }
}

/** The row is made durable and then read; the route is read by itself meanwhile (I3). */
async function confirm(context: Performing, effect: EffectOf<'confirm'>): Promise<Outcome<AnswerTo<'confirm'>>> {
  const { state, route } = await planOf(context, effect);
  const { lease: port, route: router } = context.ports;
  const [rows, served, report] = await Promise.all([
    state === null ? ok(null) : durableRows(port, state),
    route === null ? null : router.read(route.name),
    route === null ? null : router.switchReport(route.name),
  ]);
  if (!rows.ok) return rows;
  if (served !== null && served.kind !== 'seen') return refused(refusal('route-unreadable', whyNot(served)));
  return ok({ rows: rows.value, route: served?.value ?? null, report: report?.kind === 'seen' ? report.value : null });
}

async function durableRows(port: LeasePort, state: StateContract): Promise<Outcome<LeaseRows>> {
  const durable = await port.sync(state);
  if (!durable.ok) return durable;
  const read = await port.read(state);
  return read.kind === 'seen' ? ok(read.value) : refused(refusal('lease-row-unreadable', whyNot(read)));
}

async function autopsy(
  { ports, target }: Performing,
  { activation, word }: EffectOf<'autopsy'>,
): Promise<AnswerTo<'autopsy'>> {
  return {
    exit: await ports.workload.lastExit(activation),
    log: await ports.workload.logTail(target, activation, LAST_LINES),
    presence: lastPresence(ports.channel, activation) ?? relayed(word),
    reading: (await ports.channel.lastReading?.(activation)) ?? null,
  };
}

function lastPresence(channel: ChannelPort, activation: string): Json {
  const read = channel.presence(activation);
  if (read.kind !== 'seen') return null;
  const { state, epoch, detail, pid } = read.value.presence;
  return { state, epoch, detail, pid };
}

const relayed = (word: EffectOf<'autopsy'>['word']): Json =>
  word === null || word.present === null ? null : { state: word.present.state, epoch: word.present.epoch };

async function planOf(
  { library }: Performing,
  { plan }: { readonly plan: Parameters<Library['plan']>[0] },
): Promise<Plan> {
  const found = await library.plan(plan);
  if (found === null) throw new Error(`the plan ${plan} is not recorded`);
  return found;
}

const seenOr = <T, D>(evidence: Evidence<T>, otherwise: D): Outcome<T | D> => {
  if (evidence.kind === 'seen') return ok(evidence.value);
  return evidence.kind === 'absent' ? ok(otherwise) : refused(refusal('evidence-unknown', evidence.because));
};
const whyNot = (evidence: Evidence<unknown>): string =>
  evidence.kind === 'unknown' ? evidence.because : 'it is absent';
const unfit = (effect: { readonly kind: EffectKind }): never => {
  throw new Error(`${effect.kind} has nothing to act on`);
};
