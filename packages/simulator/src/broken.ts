import {
  type ContinuityDecision,
  type ContinuityEvidence,
  type Decision,
  type DeployEvidence,
  decide,
  decideContinuity,
  type TransactionRecord,
} from '@idunn/authority';
import type { Checked } from './checkers/judged.ts';
import { CALM, type Scenario, twoDeploys } from './scenario.ts';

/** A variant of the decisions that breaks one promise, and the run in which its checker must see it. */
export interface Tooth {
  readonly name: string;
  readonly breaks: Checked;
  readonly scenario: Scenario;
  readonly decide?: typeof decide;
  readonly decideContinuity?: typeof decideContinuity;
}

type Slots = DeployEvidence['slots'];

const mapSlots = (
  e: DeployEvidence,
  change: (slot: Slots[string], activation: string) => Slots[string],
): DeployEvidence => ({
  ...e,
  slots: Object.fromEntries(Object.entries(e.slots).map(([id, slot]) => [id, change(slot, id)])),
});

/** I1: takes both sides at their word instead of the echo, so a raised epoch fences whom it does not reach. */
function withoutEcho(tx: TransactionRecord, e: DeployEvidence): Decision {
  const decision = decide(tx, e);
  if (decision.kind !== 'persist' || decision.state.phase !== 'incumbent-fenced') return decision;
  const { passage } = decision.state;
  const both = [passage.successor.launch.id, ...passage.predecessors.map(({ document }) => document.activation)];
  return { ...decision, state: { ...decision.state, passage: { ...passage, echoed: both } } };
}

/** I2: believes that what runs is what was sealed. */
function withoutDigest(tx: TransactionRecord, e: DeployEvidence): Decision {
  const sealed = Object.values(e.incarnations).map(({ release }) => release.executableDigest);
  const blind = mapSlots(e, (slot) => {
    const process = slot.process;
    const { word } = slot;
    if (process.kind !== 'seen' || sealed.includes(process.value.executable)) return { ...slot, word: agreeing(word) };
    const executable = candidateDigest(tx, e) ?? process.value.executable;
    return { ...slot, process: { kind: 'seen', value: { ...process.value, executable } }, word: agreeing(word) };
  });
  return decide(tx, blind);
}

function candidateDigest(tx: TransactionRecord, e: DeployEvidence) {
  const { state } = tx;
  const passage = 'passage' in state ? state.passage : null;
  const subject = 'subject' in state ? state.subject : (passage?.successor.subject ?? null);
  return subject === null ? undefined : e.incarnations[subject.incarnation]?.release.executableDigest;
}

const agreeing = (word: Slots[string]['word']): Slots[string]['word'] =>
  word.kind === 'seen' ? { kind: 'seen', value: { ...word.value, disagreements: [] } } : word;

/** I3: clears the fence when the lease names the candidate, and takes the route for granted. */
function withoutRoute(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  if (!('passage' in state) || state.passage === null || state.passage.direction === 'back') return decide(tx, e);
  const { subject, launch } = state.passage.successor;
  const imagined = {
    route: tx.target,
    generation: 1,
    listen: { host: '127.0.0.1', port: 8_000 },
    protocol: 'http' as const,
    names: [],
    certificates: [],
    members: [{ incarnation: subject.incarnation, activation: launch.id, backend: { host: '127.0.0.1', port: 1 } }],
  };
  const observed: DeployEvidence['answers'][string] = {
    effect: { kind: 'observe-route', route: tx.target, path: '/' },
    outcome: { ok: true, value: { incarnation: subject.incarnation, status: 200, body: null } },
    atMs: e.now.monotonicMs,
    attempts: 1,
  };
  const answers = Object.fromEntries(
    Object.entries({ ...e.answers, 'observe-route': observed }).map(([key, answered]) => {
      const confirmed = answered.effect.kind === 'confirm' && answered.outcome.ok;
      if (!confirmed) return [key, answered];
      return [
        key,
        {
          ...answered,
          outcome: { ok: true as const, value: { ...(answered.outcome.value as object), route: imagined } },
        },
      ];
    }),
  );
  return decide(tx, { ...e, answers, route: { kind: 'seen', value: imagined } });
}

/** I4: makes up Ready from the workload's own word. */
function withoutObserver(tx: TransactionRecord, e: DeployEvidence): Decision {
  const own = mapSlots(e, (slot, activation) => {
    const word = agreeing(slot.word);
    if (word.kind !== 'seen' || slot.presence.kind !== 'seen') return { ...slot, word };
    const { epoch, header } = slot.presence.value.presence;
    const ready = { receipt: 'made up', activation, epoch, sequence: header.sequence, observedAtMs: 0 };
    return { ...slot, word: { kind: 'seen', value: { ...word.value, ready } } };
  });
  return decide(tx, own);
}

/** I5: takes a receipt of an earlier launch of the same incarnation for this one's. */
function withOldReceipt(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  if (!('passage' in state) || state.passage?.move === null || state.passage === null) return decide(tx, e);
  const { epoch } = state.passage.move.to;
  const replayed = mapSlots(e, (slot, activation) => {
    const word = agreeing(slot.word);
    if (word.kind !== 'seen' || word.value.ready === null) return slot;
    return {
      ...slot,
      word: { kind: 'seen', value: { ...word.value, ready: { ...word.value.ready, activation, epoch } } },
    };
  });
  return decide(tx, replayed);
}

/** I5: grants the next one the epoch of the last. */
function withSameEpoch(tx: TransactionRecord, e: DeployEvidence): Decision {
  const decision = decide(tx, e);
  if (decision.kind !== 'persist' || decision.state.phase !== 'incumbent-fenced') return decision;
  const { passage } = decision.state;
  if (passage.move === null || passage.move.from.epoch === 0) return decision;
  const to = { ...passage.move.to, epoch: passage.move.from.epoch };
  return { ...decision, state: { ...decision.state, passage: { ...passage, move: { ...passage.move, to } } } };
}

const again = (second: Scenario['deploys'][number]['behaviour'], observerDown: Scenario['observerDown']): Scenario => ({
  ...CALM,
  seed: 1,
  shapes: { app: { stores: 1, routed: true } },
  deploys: [
    { target: 'app', atMs: 10, behaviour: second, revision: 1 },
    { target: 'app', atMs: 2_000, behaviour: second, revision: 1 },
  ],
  kills: [{ target: 'app', atMs: 1_500 }],
  observerDown,
});

const fromStrayIncumbent: Scenario = {
  ...twoDeploys('good'),
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'own-database', revision: 1 },
    { target: 'app', atMs: 200, behaviour: 'good', revision: 2 },
  ],
};

/** I8: takes every freeze for absent. */
const withoutFreeze = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, e.freeze.kind === 'absent' ? e : { ...e, freeze: { kind: 'absent' } });

/** I8: restarts as if no hold stood. */
const withoutHold = (e: ContinuityEvidence): ContinuityDecision =>
  decideContinuity(e.hold.kind === 'seen' ? { ...e, hold: { kind: 'absent' } } : e);

/** I9: has enough after the third attempt. */
function withAnEnd(e: ContinuityEvidence): ContinuityDecision {
  const decision = decideContinuity(e);
  const begins = decision.kind === 'persist' && decision.begin !== null;
  if (!begins || decision.record.streak <= 3) return decision;
  return { kind: 'rest', concerns: [], wait: null, wakeAtMs: null, attemptAtMs: null };
}

/** I9: never brings anything back. */
const withNoRestart = (e: ContinuityEvidence): ContinuityDecision =>
  e.process.kind === 'absent'
    ? { kind: 'rest', concerns: [], wait: null, wakeAtMs: null, attemptAtMs: null }
    : decideContinuity(e);

/** I5: hands the dead process's lease on to its successor. */
function withDeadLease(tx: TransactionRecord, e: DeployEvidence): Decision {
  const decision = decide(tx, e);
  if (tx.request.kind !== 'continuity') return decision;
  if (decision.kind !== 'persist' || decision.state.phase !== 'incumbent-fenced') return decision;
  const { passage } = decision.state;
  if (passage.move === null) return decision;
  const to = { ...passage.move.to, epoch: passage.move.from.epoch };
  return { ...decision, state: { ...decision.state, passage: { ...passage, move: { ...passage.move, to } } } };
}

const frozen: Scenario = {
  ...twoDeploys('good'),
  deploys: twoDeploys('good').deploys.map((deploy, index) => ({ ...deploy, atMs: 10 + index * 1_500 })),
  freezes: [{ target: 'app', fromMs: 150, untilMs: 4_000, unreadable: false }],
};
const held: Scenario = {
  ...twoDeploys('good'),
  deploys: [{ target: 'app', atMs: 10, behaviour: 'good', revision: 1 }],
  kills: [{ target: 'app', atMs: 2_000 }],
  holds: [{ target: 'app', fromMs: 1_000, untilMs: 4_000, unreadable: false }],
};
const flapping: Scenario = {
  ...held,
  holds: [],
  kills: [2_000, 4_000, 12_000, 24_000, 50_000].map((atMs) => ({ target: 'app', atMs })),
};

export const TEETH: readonly Tooth[] = [
  { name: 'fences without an echo', breaks: 'I1', scenario: fromStrayIncumbent, decide: withoutEcho },
  { name: 'believes any executable', breaks: 'I2', scenario: twoDeploys('other-binary'), decide: withoutDigest },
  { name: 'takes the route for granted', breaks: 'I3', scenario: twoDeploys('good'), decide: withoutRoute },
  { name: 'makes up Ready', breaks: 'I4', scenario: twoDeploys('lies-about-incarnation'), decide: withoutObserver },
  { name: 'replays a receipt', breaks: 'I5', scenario: again('lies-when-relaunched', []), decide: withOldReceipt },
  { name: 'grants an epoch twice', breaks: 'I5', scenario: twoDeploys('good'), decide: withSameEpoch },
  { name: 'overlooks a freeze', breaks: 'I8', scenario: frozen, decide: withoutFreeze },
  { name: 'overlooks a hold', breaks: 'I8', scenario: held, decideContinuity: withoutHold },
  { name: 'gives a target up', breaks: 'I9', scenario: flapping, decideContinuity: withAnEnd },
  { name: 'never brings back', breaks: 'I9', scenario: held, decideContinuity: withNoRestart },
  { name: 'reuses a dead lease', breaks: 'I5', scenario: { ...held, holds: [] }, decide: withDeadLease },
];
