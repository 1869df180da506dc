import type { Command, EngineApi, EngineEvent, OperationReceipt, TargetView, TransactionView } from '@idunn/authority';
import type { AuthorizationAnswer } from '@idunn/client';
import { type Clock, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ApiParts } from '../api/parts.ts';

const AT = '2026-11-30T00:00:00.000Z';
const digestOf = (digit: string): `sha256:${string}` => `sha256:${digit.repeat(64)}`;
export const INCARNATION = `ghostlight@${digestOf('a')}` as const;

export const clock: Clock = { wallMs: () => Date.parse(AT), monotonicMs: () => 0, bootId: 'boot-1' };

export const admittedView: TargetView = {
  target: 'ghostlight',
  desired: 'up',
  admitted: {
    incarnation: INCARNATION,
    release: digestOf('b'),
    build: digestOf('c'),
    revision: 'd'.repeat(40),
    activation: 'act-1',
    processes: [{ pid: 4242 }],
    admittedAt: AT,
  },
  incarnations: [
    {
      incarnation: INCARNATION,
      role: 'admitted',
      expected: { release: digestOf('b'), build: digestOf('c'), revision: 'd'.repeat(40) },
      activation: 'act-1',
      present: { state: 'active', sequence: 7, observedAt: AT, fresh: true },
      ready: { receipt: digestOf('e'), observedAt: AT },
      disagreements: [],
    },
  ],
  lease: { epoch: 3, activation: 'act-1', state: 'held' },
  route: {
    endpoint: 'http://127.0.0.1:8080',
    members: [{ incarnation: INCARNATION, backend: '127.0.0.1:9000' }],
    certificates: [],
  },
  static: null,
  rollout: null,
  transaction: null,
  queued: [],
  continuity: { streak: 0, nextAttemptAt: null },
  freezes: [],
  hold: null,
  incidents: [],
};

const neverRunView: TargetView = {
  ...admittedView,
  target: 'almanac',
  desired: 'down',
  admitted: null,
  incarnations: [],
  lease: null,
  route: null,
};

export const transactionView: TransactionView = {
  id: 'tx-1',
  kind: 'deploy',
  target: 'ghostlight',
  actor: 'operator',
  tenant: 'local',
  phase: 'sealed',
  since: AT,
  phases: [{ phase: 'planned', at: AT, tookMs: 12, note: null }],
  waitingOn: { what: 'a freeze', since: AT, until: null, remedy: 'idunn freeze clear' },
  incarnation: null,
  revision: 'd'.repeat(40),
  freezes: [{ phase: 'sealed', record: null, admittedAt: AT }],
  result: null,
};

export const authorization: AuthorizationAnswer = {
  schema: 'idunn.authorization/v1',
  digest: digestOf('f'),
  target: 'ghostlight',
  keyId: 'ed25519:aa',
  sequence: 1,
  commit: 'd'.repeat(40),
  build: null,
  notBefore: AT,
  notAfter: AT,
  acceptedAt: AT,
  actor: 'operator',
  repeated: false,
  envelope: {},
};

/** An engine that remembers what it was asked, so that a test can see what reached it. */
export class FakeEngine implements EngineApi {
  readonly submitted: Command[] = [];
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  #receipts = new Map<string, OperationReceipt>();

  start = (): Promise<void> => Promise.resolve();
  stop = (): Promise<void> => Promise.resolve();
  target = (target: string): Promise<TargetView | null> =>
    Promise.resolve(target === 'ghostlight' ? admittedView : null);
  targets = (): Promise<readonly TargetView[]> => Promise.resolve([admittedView, neverRunView]);
  transaction = (id: string): Promise<TransactionView | null> =>
    Promise.resolve(id === transactionView.id ? transactionView : null);

  submit(command: Command): Promise<Outcome<OperationReceipt>> {
    const before = this.#receipts.get(command.operationId);
    if (before !== undefined) return Promise.resolve(ok({ ...before, repeated: true }));
    this.submitted.push(command);
    const { operationId, target, kind } = command;
    const receipt = { operationId, target, kind, transaction: 'tx-1', ahead: [], repeated: false, stateVersion: 9 };
    this.#receipts.set(operationId, receipt);
    return Promise.resolve(ok(receipt));
  }

  incidents = (): ReturnType<EngineApi['incidents']> => [];
  untold = (): ReturnType<EngineApi['untold']> => [];
  noteTold = (): void => undefined;

  subscribe(listener: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: EngineEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** Parts of the API over a fake engine. */
export function fakeParts(engine: EngineApi): ApiParts {
  return {
    engine,
    clock,
    runsAs: () => Promise.resolve({}),
    version: () =>
      Promise.resolve({
        schema: 'idunn.version/v1',
        api: 1,
        version: '0.1.0',
        fleet: 'test',
        machine: 'local',
        directory: '/fleet',
        pid: 1,
        node: '26.0.0',
        startedAt: AT,
        helpers: { routerPid: 2, observerPid: null, attendantPid: null },
      }),
    fleet: () =>
      Promise.resolve(
        ok({
          schema: 'idunn.fleet-view/v1',
          fleet: 'test',
          machine: 'local',
          directory: '/fleet',
          targets: ['ghostlight', 'almanac'],
          profiles: { all: ['ghostlight', 'almanac'] },
          faults: [],
        }),
      ),
    plan: () => Promise.resolve(refused(refusal('target-unknown', 'no plan here'))),
    release: (digest) => Promise.resolve(refused(refusal('subject-unknown', `no release ${digest}`))),
    dossier: () => Promise.resolve(null),
    verify: (target, { source }) =>
      Promise.resolve(
        ok({
          schema: 'idunn.verify/v1',
          target,
          incarnation: INCARNATION,
          release: digestOf('b'),
          revision: 'd'.repeat(40),
          verdict: source ? 'unknown' : 'ok',
          checks: [{ check: 'process', verdict: 'ok', detail: 'pid 4242' }],
        }),
      ),
    history: ({ limit }) =>
      Promise.resolve(
        [
          {
            schema: 'idunn.history/v1' as const,
            sequence: 1,
            kind: 'transaction.phase',
            subject: 'tx-1',
            actor: 'operator',
            tenant: 'local',
            atMs: Date.parse(AT),
            body: { phase: 'planned' },
            previous: digestOf('0'),
            digest: digestOf('1'),
          },
        ].slice(0, limit),
      ),
    incidents: () => Promise.resolve([]),
    logs: {
      tail: () => Promise.resolve(['one', 'two']),
      has: (_target, activation) => Promise.resolve(activation !== 'act-9'),
      newest: (target) => Promise.resolve(target === 'ghostlight' ? 'act-1' : null),
      async *follow(_target, activation) {
        if (activation === 'act-broken') throw new Error('the log cannot be read');
        yield 'one';
        yield 'two';
      },
    },
    attended: () => Promise.resolve({}),
    doctor: () =>
      Promise.resolve([{ check: 'record-store', verdict: 'good', detail: 'integrity checked', remedy: null }]),
    keys: () =>
      Promise.resolve({
        keys: [
          { name: 'ghostlight', purpose: 'service-signer', keyId: 'ed25519:aa', publicKey: 'AAAA', createdAt: AT },
        ],
        unreadable: [{ name: 'lost', refusal: refusal('key-malformed', 'lost.json is no key record') }],
      }),
    createKey: (target) => Promise.resolve(refused(refusal('key-exists', `${target} has a signer`))),
    authorizations: (target) =>
      Promise.resolve(
        ok({
          schema: 'idunn.authorizations/v1',
          fleet: 'test',
          target,
          authorizers: [{ keyId: authorization.keyId, publicKey: 'AAAA' }],
          current: authorization.digest,
          refusal: null,
          authorizations: [authorization],
        }),
      ),
    authorize: (_target, envelope, { actor }) =>
      Promise.resolve(
        envelope === null ? refused(refusal('envelope-malformed', 'it is null')) : ok({ ...authorization, actor }),
      ),
    authorization: (digest) => Promise.resolve(digest === authorization.digest ? authorization : null),
    build: (build) => Promise.resolve(ok(buildView(build))),
    exportBuild: (build) =>
      Promise.resolve(ok({ ...buildView(build), schema: 'idunn.exported-build/v1', directory: '/cache/exports/aa' })),
    takeBuild: () => Promise.resolve(refused(refusal('builder-unknown', 'nobody signed it'))),
    metrics: () => Promise.resolve('# HELP idunn_up 1\n'),
  };
}

const buildView = (build: string) =>
  ({ schema: 'idunn.build-view/v1', build, target: 'ghostlight', commit: 'c'.repeat(40) }) as const;
