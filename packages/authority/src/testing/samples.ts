import { absent, type Digest, digestBytes, digestJson, type Moment, seen, unknown } from '@idunn/kernel';
import { type Activation, deriveExpected, incarnationKey, type ObservedRuntime } from '@idunn/readiness';
import type { Plan, SealedRelease } from '@idunn/release';
import { type Answered, type Effect, effectKey } from '../decisions/effects.ts';
import type { DeployEvidence, Slot } from '../decisions/evidence.ts';
import type { Freeze } from '../ports/freeze-port.ts';
import type { LeaseRows, OwnerClaim } from '../ports/lease-port.ts';
import type { Correlation } from '../ports/observer-port.ts';
import type { RouteMember, RouteState } from '../ports/route-port.ts';
import { type Body, bodyOf, type Running, type Subject } from '../records/body.ts';
import type { TargetRecord } from '../records/target.ts';
import type { DeployState, HANDOVER_PHASES, StateOf, TransactionRecord } from '../records/transaction.ts';

/** Values that the tests of this room start from; every one is what a real deployment would hold. */
const digest = (text: string): Digest => digestBytes(text);
const hex = (text: string, length: number): string => digest(text).slice(7, 7 + length);

export const NOW: Moment = { wallMs: 1_800_000_000_000, monotonicMs: 50_000, bootId: 'boot-1' };
export const laterBy = (ms: number, from: Moment = NOW): Moment => ({
  ...from,
  wallMs: from.wallMs + ms,
  monotonicMs: from.monotonicMs + ms,
});

export function planOf(name: string, schema = 'events-v1'): Plan {
  return {
    schema: 'idunn.plan/v1',
    fleet: 'home',
    machine: 'local',
    target: 'app',
    source: {
      origin: '/repositories/app',
      ref: 'refs/heads/main',
      selection: 'ref-head',
      objectFormat: 'sha1',
      commit: hex(`commit ${name}`, 40),
      tree: hex(`tree ${name}`, 40),
      recipePath: 'deployment/idunn/recipe.toml',
      recipeBlob: hex(`recipe ${name}`, 40),
      recipeDigest: digest(`recipe ${name}`),
      gitlinks: [],
      lfsPointers: 'refuse',
      authorization: null,
      minimumRevision: hex('first', 40),
    },
    bindingDigest: digest('binding'),
    inputs: [],
    runners: {},
    steps: [],
    artifacts: [{ id: 'app', path: 'app', kind: 'directory' }],
    launch: {
      program: { kind: 'artifact', artifact: 'app', path: 'main' },
      args: [],
      environment: {},
      secrets: [],
      endpoint: { protocol: 'http', host: '127.0.0.1', fromPort: 20_000, toPort: 20_100 },
      limits: { memoryBytes: null, processes: null, openFiles: null, logBytes: 1_000, logFiles: 2 },
      singleProcess: true,
    },
    health: { kind: 'idunn', path: '/version', freshnessMs: 300_000 },
    continuity: { failedAfterMs: null },
    steward: null,
    rehearsal: null,
    state: {
      stateId: 'app-state',
      schema,
      accepts: [schema],
      root: '/state/app',
      stores: [{ id: 'journal', kind: 'sqlite', path: 'journal.db' }],
      lease: 'rows',
      fence: 'epoch-raised',
    },
    route: {
      name: 'app',
      listen: { host: '127.0.0.1', port: 8_000 },
      protocol: 'http',
      names: [],
      tls: null,
      redirect: null,
      proxyProtocol: false,
      idleMs: 3_600_000,
      holdMs: 500,
      holdRequests: 100,
      holdBytes: 1_000,
    },
    capabilities: [],
    rollout: { strategy: 'candidate-then-promote' },
    deadlines: {
      materializeMs: 4_000,
      sealMs: 4_000,
      startMs: 1_000,
      warmingMs: 1_000,
      handoverMs: 1_000,
      relinquishMs: 100,
      readyMs: 1_000,
      routeMs: 1_000,
      stopMs: 100,
    },
    drainMs: 1_000,
    retainReleases: 3,
    signer: { keyId: `ed25519:${hex('signer', 32)}`, publicKey: Buffer.from(hex('signer', 32)).toString('base64') },
  };
}

export interface Build {
  readonly plan: Plan;
  readonly release: SealedRelease;
  readonly subject: Subject;
  readonly expected: DeployEvidence['incarnations'][string]['expected'];
}

export function buildOf(name: string, schema?: string): Build {
  const plan = planOf(name, schema);
  const planDigest = digestJson(plan);
  const release: SealedRelease = {
    schema: 'idunn.sealed-release/v1',
    target: 'app',
    release: digest(`release ${name}`),
    build: digest(`build ${name}`),
    plan: planDigest,
    bindingDigest: plan.bindingDigest,
    launchDigest: digestJson(plan.launch),
    revision: plan.source.commit,
    executableDigest: digest(`executable ${name}`),
    entry: null,
    artifacts: [],
    provenance: digest(`provenance ${name}`),
    sealedBy: 'idunn',
  };
  const expected = deriveExpected({ plan, planDigest, sealed: release });
  if (!expected.ok) throw new Error(expected.refusal.reason);
  const incarnation = incarnationKey(expected.value);
  const subject = {
    incarnation,
    plan: planDigest,
    release: release.release,
    build: release.build,
    revision: release.revision,
  };
  return { plan, release, subject, expected: expected.value };
}

export function launchOf(build: Build, id: string, pid: number): Running {
  const document: Activation = {
    schema: 'idunn.activation/v1',
    activation: id,
    incarnation: build.subject.incarnation,
    target: 'app',
    publicKey: Buffer.from(hex(id, 32)).toString('base64'),
    keyId: `ed25519:${hex(id, 32)}`,
    endpoint: { host: '127.0.0.1', port: 20_000 + pid },
  };
  const identity = {
    kind: 'linux-process' as const,
    pid,
    startTime: String(pid * 10),
    bootId: 'boot-1',
    controlGroup: null,
    pidNamespace: 'pid:[1]',
  };
  const observed: ObservedRuntime = {
    identity,
    executable: build.release.executableDigest,
    argv: digest('argv'),
    entry: null,
  };
  return {
    step: 'current',
    id,
    document,
    handle: { version: 1, driver: 'process', target: 'app', activation: id, identity },
    observed,
  };
}

export const OLD = buildOf('old');
export const NEW = buildOf('new');
export const INCUMBENT: Body = bodyOf(OLD.subject, launchOf(OLD, 'act-old', 11), 4, true);
export const CANDIDATE: Running = launchOf(NEW, 'act-new', 12);

export const TARGET: TargetRecord = {
  schema: 'idunn.target/v1',
  target: 'app',
  instance: 'local',
  machine: 'local',
  admitted: { ...INCUMBENT, transaction: 'tx-0', admittedAt: NOW, runningSince: NOW },
  stranded: null,
  takenBy: null,
  restart: null,
  awaitedBy: null,
  highestEpoch: 4,
  queue: ['tx-1'],
  draining: [],
  retained: [OLD.release.release],
};

export const transaction = (state: DeployState, more: Partial<TransactionRecord> = {}): TransactionRecord => ({
  schema: 'idunn.transaction/v1',
  id: 'tx-1',
  target: 'app',
  instance: 'local',
  machine: 'local',
  operation: 'op-1',
  actor: 'ada',
  tenant: 'local',
  request: { kind: 'up', ref: null },
  withdrawal: null,
  intakeAt: NOW,
  begunAt: NOW,
  state,
  since: NOW,
  clock: { startedAt: NOW, frozenSince: null, pausedMs: 0 },
  log: [{ phase: 'planned', at: NOW, tookMs: null, note: null }],
  freezes: [],
  foreignMs: 0,
  result: null,
  ended: false,
  ...more,
});

export const HANDOVER: StateOf<(typeof HANDOVER_PHASES)[number]> = {
  phase: 'incumbent-fenced',
  stuck: null,
  passage: {
    direction: 'forward',
    requestId: 'req-1',
    successor: { subject: NEW.subject, launch: CANDIDATE },
    spent: [],
    relaunches: 0,
    predecessors: [INCUMBENT],
    move: { from: { epoch: 4, activation: 'act-old' }, to: { epoch: 5, activation: 'act-new' } },
    origin: { epoch: 4, activation: 'act-old' },
    echoed: ['act-new', 'act-old'],
  },
};

export const rows = (epoch: number, activation: string | null): LeaseRows => ({
  journal: { stateId: 'app-state', epoch, activation, release: null, stateSchema: 'events-v1', nonce: null },
});

export const word = (build: Build, activation: string, more: Partial<Correlation> = {}): Correlation => ({
  incarnation: build.subject.incarnation,
  activation,
  present: { state: 'warming', epoch: null, sequence: 1, observedAtMs: 0, fresh: true },
  ready: null,
  disagreements: [],
  ...more,
});

export const alive = (running: Running, more: Partial<Slot> = {}): Slot => ({
  found: seen(running.handle),
  process: seen(running.observed),
  presence: absent,
  word: absent,
  ...more,
});

/** Evidence of a calm world: the incumbent holds epoch 4, the candidate has warmed, nothing is frozen. */
export const evidence = (more: Partial<DeployEvidence> = {}): DeployEvidence => ({
  now: NOW,
  fresh: { activation: 'act-fresh', nonce: 'nonce-fresh', request: 'req-fresh' },
  target: TARGET,
  plans: { [OLD.subject.plan]: OLD.plan, [NEW.subject.plan]: NEW.plan },
  incarnations: { [OLD.subject.incarnation]: OLD, [NEW.subject.incarnation]: NEW },
  answers: {},
  marks: { reached: {}, firstWrites: {}, receipts: {} },
  running: [],
  slots: {
    'act-old': alive(launchOf(OLD, 'act-old', 11)),
    'act-new': alive(CANDIDATE, { word: seen(word(NEW, 'act-new')) }),
  },
  freeze: absent,
  hold: absent,
  observer: seen('up'),
  standing: [],
  claim: absent,
  consent: null,
  rows: seen(rows(4, 'act-old')),
  holder: { issued: true, found: unknown('not read') },
  route: absent,
  others: seen([]),
  ...more,
});

/** Good answers to effects, as an engine would remember them. */
export const answered = (...given: readonly (readonly [Effect, unknown])[]): DeployEvidence['answers'] =>
  Object.fromEntries(
    given.map(([effect, value]): [string, Answered] => [
      effectKey(effect),
      { effect, outcome: { ok: true, value }, atMs: NOW.monotonicMs, attempts: 1 },
    ]),
  );

/** The candidate as the route names it. */
export const MEMBER: RouteMember = {
  incarnation: NEW.subject.incarnation,
  activation: 'act-new',
  backend: { host: '127.0.0.1', port: 20_012 },
};

export const routeTo = (activation: string, generation = 3): RouteState => ({
  route: 'app',
  generation,
  listen: { host: '127.0.0.1', port: 8_000 },
  protocol: 'http',
  names: [],
  certificates: [],
  members: [{ ...MEMBER, activation }],
});

/** The state is this target's, under the epoch that comes next. */
export const CLAIM: OwnerClaim = {
  schema: 'idunn.owner-claim/v1',
  fleet: 'home',
  target: 'app',
  stateId: 'app-state',
  highestEpoch: 5,
};

export const FREEZE: Freeze = {
  by: 'ops',
  reason: 'audit',
  since: '2026-01-01T00:00:00.000Z',
  record: digestJson('f'),
  clearedBy: 'idunn freeze clear app',
};

/** Everything that a handover wants done before its intent. */
export const PREPARED = answered(
  [
    { kind: 'stage-route', plan: NEW.subject.plan, members: [MEMBER] },
    { stage: 's', generation: 1 },
  ],
  [{ kind: 'open-channel', handle: CANDIDATE.handle }, 'open'],
  [{ kind: 'open-channel', handle: INCUMBENT.handle }, 'open'],
  [{ kind: 'write-nonce', plan: NEW.subject.plan, nonce: 'n', readers: ['act-new', 'act-old'] }, 'written'],
  [{ kind: 'echo', plan: NEW.subject.plan, activation: 'act-new', nonce: 'n' }, true],
  [{ kind: 'echo', plan: NEW.subject.plan, activation: 'act-old', nonce: 'n' }, true],
  [{ kind: 'write-claim', plan: NEW.subject.plan, claim: CLAIM, over: null }, 'written'],
);
