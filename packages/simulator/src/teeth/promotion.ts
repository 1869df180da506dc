import {
  type Decision,
  type DeployEvidence,
  decide,
  type Phase,
  type Staged,
  type TransactionRecord,
} from '@idunn/authority';
import { CALM, type Scenario, twoDeploys } from '../scenario.ts';
import type { FaultName } from '../strikes.ts';
import { held } from './continuity.ts';
import { agreeing, mapSlots, type Tooth } from './tooth.ts';

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

/** I3: publishes the staged route while it moves the lease, for a shorter gap. */
function withEarlyRoute(tx: TransactionRecord, e: DeployEvidence): Decision {
  const decision = decide(tx, e);
  if (decision.kind !== 'act' || decision.effect.kind !== 'relinquish') return decision;
  const staged = Object.values(e.answers).find(({ effect }) => effect.kind === 'stage-route')?.outcome;
  const published = Object.values(e.answers).some(({ effect }) => effect.kind === 'publish-route');
  if (staged?.ok !== true || published) return decision;
  return { kind: 'act', effect: { kind: 'publish-route', staged: staged.value as Staged } };
}

/** I3: takes over after a death, and infers from the lease row that all the rest was done. */
function withInference(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  const passage = 'passage' in state && state.phase === 'incumbent-fenced' ? state.passage : null;
  const isHeir = !Object.keys(e.answers).some((key) => key.startsWith('relinquish '));
  if (passage === null || passage.predecessors.length === 0 || !isHeir || e.rows.kind !== 'seen') return decide(tx, e);
  const { subject, launch } = passage.successor;
  const holds = Object.values(e.rows.value).every(({ activation }) => activation === launch.id);
  if (!holds || launch.step !== 'current') return decide(tx, e);
  const { document, handle, observed } = launch;
  const body = { ...subject, document, handle, observed, epoch: passage.move?.to.epoch ?? null, echoed: true };
  const admitted = { ...body, transaction: tx.id, admittedAt: e.now, runningSince: e.now };
  const { incarnation, revision } = subject;
  return {
    kind: 'persist',
    state: { phase: 'draining', admitted: body, leaving: passage.predecessors },
    entered: [{ phase: 'fence-cleared' }, { phase: 'draining' }],
    clock: 'restart',
    target: { admitted, stranded: null, takenBy: null },
    leaves: 'detach',
    result: { outcome: 'admitted', incarnation, revision, refusal: null },
  };
}

/** I4: while the observer is away, takes what a program says of itself on its connection for the observer’s word. */
function withOwnWord(tx: TransactionRecord, e: DeployEvidence): Decision {
  const own = mapSlots(e, (slot, activation) => {
    if (slot.word.kind !== 'unknown' || slot.presence.kind !== 'seen') return slot;
    const { epoch, header, state, incarnation } = slot.presence.value.presence;
    const said = { epoch, sequence: header.sequence, observedAtMs: 0 };
    const ready = state === 'active' ? { ...said, receipt: 'made up', activation } : null;
    const present = { ...said, state, fresh: true };
    return { ...slot, word: { kind: 'seen', value: { incarnation, activation, present, ready, disagreements: [] } } };
  });
  return decide(tx, own);
}

/** I1: writes one and the same nonce beside the rows at every handover. */
const withOldNonce = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, { ...e, fresh: { ...e.fresh, nonce: 'the-nonce' } });

/** A program that writes to a copy of the database, and one after it that leaves it the time to be seen to. */
const copying: Scenario = {
  ...twoDeploys('own-database'),
  deploys: [
    ...twoDeploys('own-database').deploys,
    { target: 'app', atMs: 1_500, behaviour: 'never-active', revision: 3 },
  ],
};
const strickenIn = (phase: Phase, fault: FaultName, lastsMs?: number): Scenario => ({
  ...twoDeploys('good'),
  strikes: [{ kind: 'deploy', phase, fault, ...(lastsMs === undefined ? {} : { lastsMs }) }],
});

/** What is true of the one that is promoted: it alone writes, is what was sealed, and was seen by who may see it. */
export const TEETH_OF_PROMOTION: readonly Tooth[] = [
  { name: 'fences without an echo', breaks: 'I1', scenario: fromStrayIncumbent, decide: withoutEcho },
  { name: 'believes any executable', breaks: 'I2', scenario: twoDeploys('other-binary'), decide: withoutDigest },
  { name: 'takes the route for granted', breaks: 'I3', scenario: twoDeploys('good'), decide: withoutRoute },
  { name: 'reuses the nonce', breaks: 'I1', scenario: copying, decide: withOldNonce },
  { name: 'routes before it grants', breaks: 'I3', scenario: twoDeploys('good'), decide: withEarlyRoute },
  {
    name: 'infers the rest from the lease',
    breaks: 'I3',
    scenario: strickenIn('write-lease-granted', 'daemon-killed'),
    decide: withInference,
  },
  {
    name: 'believes a program while the observer is away',
    breaks: 'I4',
    scenario: strickenIn('incumbent-fenced', 'observer-gone', 9_000),
    decide: withOwnWord,
  },
  { name: 'makes up Ready', breaks: 'I4', scenario: twoDeploys('lies-about-incarnation'), decide: withoutObserver },
  { name: 'replays a receipt', breaks: 'I5', scenario: again('lies-when-relaunched', []), decide: withOldReceipt },
  { name: 'grants an epoch twice', breaks: 'I5', scenario: twoDeploys('good'), decide: withSameEpoch },
  { name: 'reuses a dead lease', breaks: 'I5', scenario: { ...held, holds: [] }, decide: withDeadLease },
];
