import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  absent,
  type Digest,
  digestJson,
  ok,
  publicKeyOf,
  refusal,
  refused,
  seen,
  signEnvelope,
  signingKeyFromSeed,
  unknown,
} from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { AuditCheck, Plan } from '@idunn/release';
import { admittedView, INCARNATION } from '../testing/fake-parts.ts';
import { authorityChecks, readyCheck } from './authorities.ts';
import type { Dossier } from './dossier.ts';
import { runtimeChecks } from './runtime.ts';
import { sourceChecks } from './source.ts';

const digest = (digit: string): Digest => `sha256:${digit.repeat(64)}`;
const PLACE = { device: '1', inode: '2' };
const OBSERVER = signingKeyFromSeed(Buffer.alloc(32, 5).toString('base64'));
const FORGER = signingKeyFromSeed(Buffer.alloc(32, 6).toString('base64'));

const identity = {
  kind: 'linux-process',
  pid: 4242,
  startTime: '77',
  bootId: 'boot',
  controlGroup: null,
  pidNamespace: 'pid:[1]',
} as const;

const running: ObservedRuntime = {
  identity,
  executable: digest('1'),
  argv: digest('2'),
  entry: { ...PLACE, digest: digest('3') },
};

const receipt = (signer = OBSERVER, about: object = {}) => {
  const envelope = signEnvelope({ incarnation: INCARNATION, activation: 'act-1', ...about }, [signer]);
  return { incarnation: INCARNATION, envelope, receipt: digestJson(envelope) };
};

/** What the checks read of a dossier, and no more. */
const dossier = (change: { ready?: object | null; argv?: Digest | null } = {}): Dossier =>
  ({
    record: {
      release: { executableDigest: digest('1'), entry: { artifact: 'server', path: 'main.js', digest: digest('3') } },
    },
    plan: { state: {}, route: {} },
    body: {
      incarnation: INCARNATION,
      epoch: 3,
      document: { activation: 'act-1', endpoint: { host: '127.0.0.1', port: 9000 } },
      handle: { identity, ...(change.argv === null ? {} : { argv: digest('2') }) },
    },
    ready: change.ready === undefined ? receipt() : change.ready,
  }) as unknown as Dossier;

const faults = (checks: readonly AuditCheck[]): string[] =>
  checks.filter(({ verdict }) => verdict !== 'ok').map(({ check, verdict }) => `${check} ${verdict}`);

const runtime = (change: Partial<ObservedRuntime> = {}): string[] =>
  faults(runtimeChecks(dossier(), seen({ ...running, ...change }), PLACE));

test('I2, F19: what runs is held against the seal: executable, argv and entry', () => {
  assert.deepEqual(runtime(), []);
  assert.deepEqual(runtime({ executable: digest('9') }), ['executable differs']);
  assert.deepEqual(runtime({ argv: digest('9') }), ['argv differs']);
  assert.deepEqual(runtime({ entry: { ...PLACE, digest: digest('9') } }), ['entry differs']);
  assert.deepEqual(runtime({ entry: { ...PLACE, inode: '9', digest: digest('3') } }), ['entry differs']);
  assert.deepEqual(runtime({ entry: null }), ['entry differs']);
  assert.deepEqual(runtime({ gate: 'waiting' }), ['process differs']);
});

test('I10: a process that is gone differs, one that cannot be looked at is unknown, and neither is ok', () => {
  assert.deepEqual(faults(runtimeChecks(dossier(), absent, PLACE)), ['process differs']);
  assert.deepEqual(faults(runtimeChecks(dossier(), unknown('hidepid'), PLACE)), ['process unknown']);
  assert.deepEqual(faults(runtimeChecks(dossier({ argv: null }), seen(running), PLACE)), ['argv unknown']);
  assert.deepEqual(faults(runtimeChecks(dossier(), seen(running), null)), ['entry unknown']);
});

test('I3: lease and route must each name the admitted process', () => {
  const view = (change: Partial<typeof admittedView>): string[] =>
    faults(authorityChecks(dossier(), { ...admittedView, ...change }));
  assert.deepEqual(view({}), []);
  assert.deepEqual(view({ lease: { epoch: 4, activation: 'act-1', state: 'held' } }), ['write lease differs']);
  assert.deepEqual(view({ lease: { epoch: 3, activation: 'act-2', state: 'held' } }), ['write lease differs']);
  assert.deepEqual(view({ lease: { epoch: 3, activation: null, state: 'revoked' } }), ['write lease differs']);
  assert.deepEqual(view({ lease: null }), ['write lease unknown']);
  const to = (backend: string, incarnation = INCARNATION) => ({
    endpoint: 'e',
    members: [{ incarnation, backend }],
    certificates: [],
  });
  assert.deepEqual(view({ route: to('127.0.0.1:9001') }), ['route differs'], 'F14: another port');
  assert.deepEqual(view({ route: to('127.0.0.1:9000', `ghostlight@${digest('7')}`) }), ['route differs']);
  assert.deepEqual(view({ route: { endpoint: 'e', members: [], certificates: [] } }), ['route differs']);
  assert.deepEqual(view({ route: null }), ['route unknown']);
});

test('I4: a disagreement differs, a stale word and an unseen readiness are unknown', () => {
  const [shown] = admittedView.incarnations;
  assert.ok(shown?.present);
  const truths = (change: Partial<typeof shown>): string[] =>
    faults(authorityChecks(dossier(), { ...admittedView, incarnations: [{ ...shown, ...change }] }));
  assert.deepEqual(truths({ disagreements: [{ code: 'executable-differs', detail: 'x' } as never] }), [
    'three truths differs',
  ]);
  assert.deepEqual(truths({ present: { ...shown.present, fresh: false } }), ['three truths unknown']);
  assert.deepEqual(truths({ ready: null }), ['three truths unknown']);
});

test('I4: the receipt must be signed by the observer and be about this activation', () => {
  const key = publicKeyOf(OBSERVER.privateKey);
  const checked = (ready: object | null): string[] => faults(readyCheck(dossier({ ready }), key));
  assert.deepEqual(checked(receipt()), []);
  assert.deepEqual(checked(receipt(FORGER)), ['ready receipt differs']);
  assert.deepEqual(checked(receipt(OBSERVER, { activation: 'act-9' })), ['ready receipt differs']);
  assert.deepEqual(checked({ ...receipt(), envelope: null }), ['ready receipt unknown']);
  assert.deepEqual(checked(null), ['ready receipt unknown']);
  assert.deepEqual(faults(readyCheck(dossier(), null)), ['ready receipt unknown']);
});

test('the source is derived anew; an origin that cannot be read leaves it unknown', async () => {
  const source = {
    origin: '/srv/app.git',
    ref: 'refs/heads/main',
    commit: 'c'.repeat(40),
    tree: 't',
    recipeBlob: 'b',
    recipeDigest: digest('4'),
    minimumRevision: 'm',
    recipePath: 'r',
    gitlinks: [],
    lfsPointers: 'refuse',
  };
  const plan = { target: 'app', source } as unknown as Plan;
  const { signal } = new AbortController();
  const found = async (facts: object): Promise<string[]> => {
    const resolve = () => Promise.resolve(ok({ facts: { ...source, ...facts }, recipe: '', fetchMs: 0 } as never));
    return faults(await sourceChecks(plan, { resolve }, signal));
  };
  assert.deepEqual(await found({}), []);
  assert.deepEqual(await found({ tree: 'other' }), ['source differs']);
  assert.deepEqual(await found({ recipeDigest: digest('5') }), ['source differs']);
  const lost = { resolve: () => Promise.resolve(refused(refusal('source-unreachable', 'no route to it'))) };
  assert.deepEqual(faults(await sourceChecks(plan, lost, signal)), ['source unknown']);
});
