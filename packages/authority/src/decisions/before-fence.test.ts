import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Code, digestJson, refusal, refused, seen, unknown } from '@idunn/kernel';
import { PHASES } from '../model/phase.ts';
import { PHASE_TABLE } from '../model/phase-table.ts';
import { bodyOf } from '../records/body.ts';
import {
  alive,
  answered,
  CANDIDATE,
  CLAIM,
  evidence,
  FREEZE,
  laterBy,
  launchOf,
  MEMBER,
  NEW,
  NOW,
  OLD,
  PREPARED,
  rows,
  TARGET,
  transaction,
  word,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import { type Effect, effectKey } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

const warming = transaction({ phase: 'warming', subject: NEW.subject, launch: CANDIDATE });
const plan = NEW.subject.plan;
const old = launchOf(OLD, 'act-old', 11);
const step = (e: Partial<DeployEvidence>, record = warming) => decide(record, evidence({ answers: PREPARED, ...e }));
/** What a refusal becomes once the last words were gathered. */
const givenUp = (e: Partial<DeployEvidence>, record = warming, more: DeployEvidence['answers'] = {}) => {
  const autopsy: Effect = { kind: 'autopsy', activation: 'act-new', word: null };
  const decision = step(
    {
      ...e,
      answers: { ...PREPARED, ...answered([autopsy, { exit: null, log: [], presence: null, reading: null }]), ...more },
    },
    record,
  );
  return decision.kind === 'persist' && decision.state.phase === 'aborting' ? decision.state.why.code : decision.kind;
};

test('the phase table has every phase once, in order, and reads the freeze at exactly two', () => {
  assert.deepEqual(
    PHASE_TABLE.map(({ phase }) => phase),
    [...PHASES],
  );
  assert.deepEqual(
    PHASE_TABLE.filter(({ freezeRead }) => freezeRead).map(({ phase }) => phase),
    ['sealed', 'warming'],
  );
  const lastCancellable = PHASE_TABLE.findLastIndex(({ cancellable }) => cancellable);
  assert.equal(PHASE_TABLE[lastCancellable]?.phase, 'warming');
});

test('the intent names the highest epoch of record, claim and row, plus one, and takes the target with it', () => {
  const decision = step({});
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'incumbent-fenced');
  assert.deepEqual(decision.state.passage.move, {
    from: { epoch: 4, activation: 'act-old' },
    to: { epoch: 5, activation: 'act-new' },
  });
  assert.deepEqual(decision.target, { takenBy: 'tx-1', highestEpoch: 5 });
  assert.deepEqual(decision.freeze, { phase: 'warming', record: null, admittedAt: NOW });
  const claimed = { kind: 'write-claim', plan, claim: { ...CLAIM, highestEpoch: 91 }, over: null } as const;
  const behind = step({
    claim: seen({ ...CLAIM, highestEpoch: 90 }),
    answers: { ...PREPARED, ...answered([claimed, 'written']) },
  });
  assert.ok(behind.kind === 'persist' && behind.state.phase === 'incumbent-fenced');
  assert.equal(behind.state.passage.move?.to.epoch, 91);
});

test('I1, I6: a claim that was written for the intent and read back names the same epoch', () => {
  const slow = step({ claim: seen(CLAIM) });
  assert.ok(slow.kind === 'persist' && slow.state.phase === 'incumbent-fenced');
  assert.equal(slow.state.passage.move?.to.epoch, 5);
  // One that an engine before this one wrote is an epoch that may have been granted.
  const standing = Object.fromEntries(Object.entries(PREPARED).filter(([key]) => !key.startsWith('write-claim')));
  const anew = step({ claim: seen(CLAIM), answers: standing });
  assert.ok(anew.kind === 'act' && anew.effect.kind === 'write-claim');
  assert.equal(anew.effect.claim.highestEpoch, 6);
});

test('I1: a claim is written over the one that was read; a fleet that came meanwhile ends the candidate', () => {
  const standing = Object.fromEntries(Object.entries(PREPARED).filter(([key]) => !key.startsWith('write-claim')));
  const asked = (read: DeployEvidence['claim']) => {
    const decision = step({ claim: read, answers: standing });
    assert.ok(decision.kind === 'act' && decision.effect.kind === 'write-claim');
    return decision.effect;
  };
  assert.equal(asked(absent).over, null);
  assert.deepEqual(asked(seen(CLAIM)).over, CLAIM);
  const foreign = refused(refusal('foreign-claim', 'The state was claimed by elsewhere/app meanwhile.'));
  const answers = { [effectKey(asked(absent))]: { effect: asked(absent), outcome: foreign, atMs: 0, attempts: 1 } };
  assert.equal(givenUp({}, warming, answers), 'foreign-claim');
});

test('what does not need one another is asked for side by side: first what stands, then what is proven by it', () => {
  const asked = (answers: DeployEvidence['answers'], e: Partial<DeployEvidence> = {}): readonly string[] => {
    const decision = step({ ...e, answers });
    if (decision.kind !== 'act') return [decision.kind];
    return [decision.effect, ...(decision.beside ?? [])].map(({ kind }) => kind);
  };
  assert.deepEqual(asked({}), ['stage-route', 'open-channel', 'write-nonce', 'open-channel']);
  const standing = Object.fromEntries(Object.entries(PREPARED).filter(([key]) => !/^(echo|write-claim)/.test(key)));
  assert.deepEqual(asked(standing), ['echo', 'echo', 'write-claim']);
  assert.deepEqual(asked(standing, { freeze: seen(FREEZE) }), ['persist'], 'I8: no claim is written under a freeze');
  const { [`open-channel ${CANDIDATE.id}`]: _, ...half } = standing;
  const still = step({ answers: half, running: [`open-channel ${CANDIDATE.id}`] });
  assert.ok(still.kind === 'wait' && /the candidate’s lease connection/.test(still.what));
});

test('F22, I7: an incumbent that hangs in a write is gone past; a stranger that holds the store is waited for', () => {
  const busy = (heldBy: readonly number[], attempts: number): DeployEvidence['answers'] => {
    const effect = { kind: 'write-nonce', plan, nonce: 'n', readers: ['act-new', 'act-old'] } as const;
    const refused = refusal('store-busy', 'The store db is held.', { detail: { heldBy: [...heldBy] } });
    const answer = { effect, outcome: { ok: false, refusal: refused }, atMs: NOW.monotonicMs, attempts } as const;
    return {
      ...PREPARED,
      [effectKey(effect)]: answer,
      ...answered([{ ...echoed('act-new') }, false], [{ ...echoed('act-old') }, false]),
    };
  };
  const echoed = (activation: string) => ({ kind: 'echo', plan, activation, nonce: 'n' }) as const;
  const on = step({ answers: busy([old.handle.identity.pid], 2) });
  assert.ok(on.kind === 'persist' && on.state.phase === 'incumbent-fenced');
  assert.deepEqual(on.state.passage.echoed, [], 'the fence is the end of its tree');
  for (const [pids, attempts] of [
    [[old.handle.identity.pid], 1],
    [[old.handle.identity.pid, 4_711], 2],
    [[4_711], 9],
    [[], 9],
  ] as const) {
    const decision = step({ answers: busy(pids, attempts) });
    assert.match(decision.kind === 'wait' ? decision.what : decision.kind, /the nonce .*is held/);
  }
  const autopsy: Effect = { kind: 'autopsy', activation: 'act-new', word: null };
  const told = answered([autopsy, { exit: null, log: [], presence: null, reading: null }]);
  const late = step({ answers: { ...busy([4_711], 9), ...told }, now: laterBy(3_600_000) });
  assert.ok(late.kind === 'persist' && late.state.phase === 'aborting');
  assert.equal(late.state.why.code, 'store-busy', 'F5: what it waited on is the reason');
});

test('I8: a freeze holds before the intent and stops the clock; what was read is kept', () => {
  const held = step({ freeze: seen(FREEZE) });
  assert.ok(held.kind === 'persist' && held.state.phase === 'warming');
  assert.equal(held.clock, 'freeze');
  assert.deepEqual(held.freeze, { phase: 'warming', record: FREEZE.record, admittedAt: null });
  const frozen = {
    ...warming,
    clock: { ...warming.clock, frozenSince: NOW },
    freezes: [{ phase: 'warming', record: FREEZE.record, admittedAt: null }],
  };
  const waiting = step({ freeze: seen(FREEZE), now: laterBy(3_600_000) }, frozen);
  assert.ok(waiting.kind === 'wait');
  assert.deepEqual(
    [waiting.what, waiting.remedy, waiting.untilMs],
    ['the freeze of ops: audit (since 2026-01-01T00:00:00.000Z)', 'idunn freeze clear app', null],
  );
  const thawed = step({ now: laterBy(3_600_000) }, frozen);
  assert.equal(thawed.kind === 'persist' ? thawed.clock : null, 'thaw');
  // A restart of the same incarnation took its place with the observer meanwhile: its deadline ends the wait.
  const displaced = step({ slots: { 'act-new': alive(CANDIDATE, { presence: absent, word: absent }) } }, frozen);
  assert.equal(displaced.kind === 'persist' ? displaced.clock : displaced.kind, 'thaw');
});

test('I8, I10: a freeze that cannot be read holds', () => {
  const decision = step({ freeze: unknown('permission denied') });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'warming' && decision.clock === 'freeze');
});

test('I10: a candidate that cannot be seen is neither promoted nor given up', () => {
  const slots = {
    'act-old': alive(old),
    'act-new': alive(CANDIDATE, { process: unknown('hidepid'), word: seen(word(NEW, 'act-new')) }),
  };
  assert.equal(step({ slots }).kind, 'wait');
});

test('I7: what a candidate does before the fence ends it alone', () => {
  const slot = (more: Partial<DeployEvidence['slots'][string]>) => ({
    'act-old': alive(old),
    'act-new': alive(CANDIDATE, more),
  });
  const said = (more: Parameters<typeof word>[2]) => slot({ word: seen(word(NEW, 'act-new', more)) });
  const present = { state: 'warming' as const, epoch: null, sequence: 1, observedAtMs: 0, fresh: true };
  assert.equal(givenUp({ slots: slot({ process: absent }) }), 'candidate-exited');
  assert.equal(givenUp({ slots: said({ present: { ...present, epoch: 1 } }) }), 'wrote-before-lease');
  assert.equal(givenUp({ slots: said({ present: { ...present, state: 'active' } }) }), 'wrote-before-lease');
  assert.equal(givenUp({ slots: said({ present: { ...present, state: 'failed' } }) }), 'candidate-failed');
  assert.equal(
    givenUp({ slots: said({ disagreements: [{ code: 'endpoint-mismatch', detail: 'port' }] }) }),
    'endpoint-mismatch',
  );
  assert.equal(givenUp({ rows: seen(rows(5, 'act-new')) }), 'wrote-before-lease');
  assert.equal(
    givenUp({ marks: { reached: {}, receipts: {}, firstWrites: { 'act-new': { epoch: 4, atMs: 1 } } } }),
    'wrote-before-lease',
  );
});

test('F5: a deadline that passed is told by what was refused last of all that was waited for', () => {
  const refusing = (effect: Effect, code: Code, atMs: number): DeployEvidence['answers'] => {
    const outcome = { ok: false, refusal: refusal(code, `${code} it is`) } as const;
    return { [effectKey(effect)]: { effect, outcome, atMs, attempts: 9 } };
  };
  const issued = transaction({
    phase: 'activation-issued',
    subject: NEW.subject,
    launch: { step: 'issued', id: 'act-new' },
  });
  const missing = refusing({ kind: 'prepare-lease', plan }, 'store-missing', 5);
  assert.equal(givenUp({ now: laterBy(3_600_000) }, issued, missing), 'store-missing');
  assert.equal(givenUp({ now: laterBy(3_600_000) }, issued), 'phase-deadline');
  const route = { kind: 'stage-route', plan, members: [MEMBER] } as const;
  const taken = {
    ...refusing(route, 'route-listener-unavailable', 9),
    ...refusing({ kind: 'write-nonce', plan, nonce: 'n', readers: ['act-new', 'act-old'] }, 'store-busy', 8),
  };
  assert.equal(givenUp({ now: laterBy(3_600_000) }, warming, taken), 'route-listener-unavailable');
});

test('I5: a word about an earlier activation of the incarnation counts for nothing', () => {
  const slots = { 'act-old': alive(old), 'act-new': alive(CANDIDATE, { word: seen(word(NEW, 'act-before')) }) };
  assert.equal(step({ slots }).kind, 'wait');
});

test('I1: a row that names an activation nobody here issued is held', () => {
  const decision = step({ rows: seen(rows(7, 'act-stranger')), holder: { issued: false, found: unknown('not read') } });
  assert.match(decision.kind === 'wait' ? decision.what : '', /act-stranger, an activation that nobody here issued/);
  assert.equal(decision.kind === 'wait' ? decision.incident : null, 'lease-row-unexpected');
  const mine = answered(
    [{ kind: 'write-nonce', plan, nonce: 'n', readers: ['act-new'] }, 'written'],
    [{ kind: 'echo', plan, activation: 'act-new', nonce: 'n' }, true],
  );
  const gone = step({
    rows: seen(rows(7, 'act-spent')),
    holder: { issued: true, found: absent },
    claim: seen(CLAIM),
    answers: { ...PREPARED, ...mine },
  });
  assert.equal(gone.kind === 'act' ? gone.effect.kind : gone.kind, 'write-claim');
});

test('I1: whoever was launched after the nonce was written is asked for a fresh one, of which it has no copy', () => {
  const restarted = launchOf(OLD, 'act-again', 13);
  const admitted = {
    ...bodyOf(OLD.subject, restarted, 5, true),
    transaction: 'tx-0',
    admittedAt: NOW,
    runningSince: NOW,
  };
  const anew = step({
    target: { ...TARGET, admitted },
    rows: seen(rows(5, 'act-again')),
    slots: { 'act-again': alive(restarted), ...evidence().slots },
    answers: { ...PREPARED, ...answered([{ kind: 'open-channel', handle: restarted.handle }, 'open']) },
  });
  assert.ok(anew.kind === 'act' && anew.effect.kind === 'write-nonce');
  assert.deepEqual(anew.effect.readers, ['act-new', 'act-again']);
  assert.notEqual(anew.effect.nonce, 'n');
});

test('I2: what runs must be what was sealed', () => {
  const launch = { step: 'minted', id: 'act-new', document: CANDIDATE.document } as const;
  const record = transaction({ phase: 'candidate-started', subject: NEW.subject, launch });
  const other = alive(CANDIDATE, { process: seen({ ...CANDIDATE.observed, executable: digestJson('other') }) });
  assert.equal(givenUp({ slots: { 'act-new': other } }, record), 'executable-mismatch');
  const same = step({ slots: { 'act-new': alive(CANDIDATE) } }, record);
  assert.ok(same.kind === 'persist' && same.state.phase === 'activation-observed');
});

test('I2: a program that replaces itself before the fence is ended, whenever it does so', () => {
  const turned = (more: object) => ({
    'act-old': alive(old),
    'act-new': alive(CANDIDATE, { process: seen({ ...CANDIDATE.observed, ...more }) }),
  });
  const launch = { ...CANDIDATE, step: 'current' } as const;
  const silent = transaction({ phase: 'activation-observed', subject: NEW.subject, launch });
  for (const record of [silent, undefined]) {
    const binary = turned({ executable: digestJson('other') });
    assert.equal(givenUp({ slots: binary }, record), 'executable-mismatch');
    assert.equal(
      givenUp({ slots: turned({ entry: { device: '1', inode: '2', digest: digestJson('other') } }) }, record),
      'executable-mismatch',
    );
  }
  const told = { ...launch, handle: { ...launch.handle, argv: digestJson(['as launched']) } };
  const renamed = transaction({ phase: 'activation-observed', subject: NEW.subject, launch: told });
  assert.equal(givenUp({ slots: turned({}) }, renamed), 'executable-mismatch');
});

test('I6: a launch that cannot be looked for is never doubled', () => {
  const launch = { step: 'minted', id: 'act-new', document: CANDIDATE.document } as const;
  const record = transaction({ phase: 'candidate-started', subject: NEW.subject, launch });
  assert.equal(step({ slots: { 'act-new': alive(CANDIDATE, { found: unknown('no /proc') }) } }, record).kind, 'wait');
  const start = step({ slots: { 'act-new': alive(CANDIDATE, { found: absent }) } }, record);
  assert.equal(start.kind === 'act' ? start.effect.kind : null, 'start');
});

test('after a reboot the activation is void and a new one is minted for the same release', () => {
  const decision = step({ now: { ...NOW, bootId: 'boot-2' } });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'activation-issued');
  assert.deepEqual(decision.state.launch, { step: 'issued', id: 'act-fresh' });
});

test('F5: stores that carry no row are told, and not an early refusal of the lease connection', () => {
  const early: Effect = { kind: 'open-channel', handle: CANDIDATE.handle };
  const refused = { ok: false, refusal: refusal('channel-not-listening', 'not yet') } as const;
  const answers = { [effectKey(early)]: { effect: early, outcome: refused, atMs: NOW.monotonicMs, attempts: 1 } };
  assert.equal(givenUp({ now: laterBy(3_600_000), rows: absent }, warming, answers), 'lease-row-unreadable');
});

test('F5: a deadline that passed over a lease that somebody unknown holds is told so', () => {
  const held = { rows: seen(rows(7, 'act-newer')), holder: { issued: false, found: absent } };
  assert.equal(givenUp({ ...held, now: laterBy(1_001) }), 'lease-row-unexpected');
});

test('F29: a wall clock that jumps ends no deadline, a monotonic one does', () => {
  assert.equal(step({ now: { ...NOW, wallMs: NOW.wallMs + 3_600_000 } }).kind, 'persist');
  assert.equal(givenUp({ now: laterBy(1_001) }), 'phase-deadline');
});

test('I9: where a deployment is refused a restart waits and says on what: a foreign claim, stores that differ', () => {
  const restart = transaction(warming.state, { request: { kind: 'continuity', cause: 'died' } });
  const [{ journal: one }, { journal: other }] = [rows(4, 'act-old'), rows(5, null)];
  assert.ok(one !== undefined && other !== undefined);
  const cases = [
    ['foreign-claim', { claim: seen({ ...CLAIM, fleet: 'elsewhere' }) }],
    ['lease-row-unexpected', { rows: seen({ one, other }) }],
  ] as const;
  for (const [code, more] of cases) {
    assert.equal(givenUp(more), code);
    const held = step(more, restart);
    assert.deepEqual(held.kind === 'wait' ? [held.incident, held.untilMs] : held, [code, null]);
  }
});
