import { type Decision, type DeployEvidence, decide, type EnginePorts, type TransactionRecord } from '@idunn/authority';
import { seen } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import { ALONE, diesOnce, GATED, type Scenario, twoDeploys } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

const withPlans = (e: DeployEvidence, change: (plan: Plan) => Plan): DeployEvidence => ({
  ...e,
  plans: Object.fromEntries(Object.entries(e.plans).map(([digest, plan]) => [digest, change(plan)])),
});

/** I7: believes that a build which was sealed can start. */
const withoutRehearsal = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(
    tx,
    withPlans(e, (plan) => ({ ...plan, rehearsal: null })),
  );

/** I1: takes a predecessor for gone because it was to be ended. */
function withoutTheEnd(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  if (!('passage' in state) || state.passage === null) return decide(tx, e);
  const gone = state.passage.predecessors.map(({ document, handle }) => [
    `end-process ${document.activation}`,
    {
      effect: { kind: 'end-process' as const, activation: document.activation, handle, graceMs: 0 },
      outcome: { ok: true as const, value: { kind: 'gone', proof: 'tree-empty', forced: false } },
      atMs: e.now.monotonicMs,
      attempts: 1,
    },
  ]);
  return decide(tx, { ...e, answers: { ...e.answers, ...Object.fromEntries(gone) } });
}

/** I1: gives back while a launcher that was granted the lease still stands at its gate. */
function besideItsLauncher(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  return 'passage' in state && state.passage?.direction === 'back' ? withoutTheEnd(tx, e) : decide(tx, e);
}

/** Takes a launcher that became the program by itself for one that still waits. */
function blindToTheGate(tx: TransactionRecord, e: DeployEvidence): Decision {
  const slots = Object.entries(e.slots).map(([id, slot]) => {
    const process = slot.process;
    if (process.kind !== 'seen' || !awaitsGrant(tx, id)) return [id, slot];
    return [id, { ...slot, process: { kind: 'seen', value: { ...process.value, gate: 'waiting' } } }];
  });
  const granted = Object.keys(e.answers).some((key) => key.startsWith('grant '));
  const answers = Object.entries(e.answers).map(([key, answered]) => {
    if (answered.effect.kind !== 'observe-process' || granted || !answered.outcome.ok) return [key, answered];
    return [
      key,
      { ...answered, outcome: { ok: true, value: { ...(answered.outcome.value as object), gate: 'waiting' } } },
    ];
  });
  return decide(tx, { ...e, slots: Object.fromEntries(slots), answers: Object.fromEntries(answers) });
}

function awaitsGrant({ state }: TransactionRecord, id: string): boolean {
  const launch = 'launch' in state ? state.launch : 'passage' in state ? state.passage?.successor.launch : null;
  return launch?.id === id && 'observed' in launch && launch.observed.gate === 'waiting';
}

/** I2: never looks at what the launcher has become, and takes the workload's word for Ready. */
function blindBehindTheGate(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  if (!('passage' in state) || state.passage === null) return decide(tx, e);
  const { subject, launch } = state.passage.successor;
  const executable = e.incarnations[subject.incarnation]?.release.executableDigest;
  const answers = Object.entries(e.answers).map(([key, answered]) => {
    const seen = answered.outcome.ok ? answered.outcome.value : null;
    if (answered.effect.kind !== 'observe-process' || seen === null) return [key, answered];
    return [key, { ...answered, outcome: { ok: true, value: { ...(seen as object), executable } } }];
  });
  const slots = Object.entries(e.slots).map(([id, slot]) => {
    if (id !== launch.id || slot.word.kind !== 'seen' || slot.presence.kind !== 'seen') return [id, slot];
    const { epoch, header } = slot.presence.value.presence;
    const ready = { receipt: 'made up', activation: id, epoch, sequence: header.sequence, observedAtMs: 0 };
    return [id, { ...slot, word: { kind: 'seen', value: { ...slot.word.value, ready, disagreements: [] } } }];
  });
  return decide(tx, { ...e, answers: Object.fromEntries(answers), slots: Object.fromEntries(slots) });
}

/** Lets the two that cannot overlap start as any other. */
const asAnyOther = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(
    tx,
    withPlans(e, (plan) => ({ ...plan, rollout: { strategy: 'candidate-then-promote' } })),
  );

/** Takes a restart that was given up for one that is gone, and looks for nobody. */
function besideARestart(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { restart, takenBy } = e.target;
  const isGivenUp = takenBy === null && restart !== tx.id;
  return decide(tx, { ...e, target: { ...e.target, restart: isGivenUp ? null : restart }, others: seen([]) });
}

/** No launch after the first is what it says; the second build is ready once the restart is given up. */
export const lyingRestart = (atMs: number): Scenario => {
  const once = diesOnce('lies-when-relaunched', { stores: 0, routed: true, alone: true });
  return { ...once, deploys: [...once.deploys, { target: 'app', atMs, behaviour: 'good', revision: 2 }] };
};

/** What lives and is asked to end takes its time. */
export const endsSlowly = (ports: EnginePorts): EnginePorts => ({
  ...ports,
  workload: {
    ...ports.workload,
    stop: async (handle, graceMs) => {
      const { kind } = await ports.workload.observe(handle, 'sha256:any');
      if (kind === 'seen') await new Promise<void>((resolve) => void ports.timers.after(300, resolve));
      return ports.workload.stop(handle, graceMs);
    },
  },
});

/** I12: does not ask what the predecessor is serving before it is ended. */
function withoutPatience(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  if (!('passage' in state) || state.passage === null) return decide(tx, e);
  const idle = state.passage.predecessors.map(({ incarnation }) => [
    `in-flight ${incarnation}`,
    {
      effect: { kind: 'in-flight' as const, route: tx.target, incarnation },
      outcome: { ok: true as const, value: 0 },
      atMs: e.now.monotonicMs,
      attempts: 1,
    },
  ]);
  return decide(tx, { ...e, answers: { ...e.answers, ...Object.fromEntries(idle) } });
}

/** Several deployments, so that one of them meets a request that is being served. */
const busy: Scenario = {
  ...twoDeploys('good', GATED),
  deploys: Array.from({ length: 6 }, (_, index) => ({
    target: 'app',
    atMs: 10 + index * 300,
    behaviour: 'good' as const,
    revision: index + 1,
  })),
};

/** Broken variants of what is special about programs behind a gate, and about those that cannot overlap. */
export const TEETH_OF_KINDS: readonly Tooth[] = [
  { name: 'skips the rehearsal', breaks: 'I7', scenario: twoDeploys('good', GATED), decide: withoutRehearsal },
  { name: 'runs it beside its predecessor', breaks: 'I1', scenario: twoDeploys('good', GATED), decide: withoutTheEnd },
  {
    name: 'gives back beside a launcher',
    breaks: 'I1',
    scenario: twoDeploys('lingers-at-its-gate', GATED),
    decide: besideItsLauncher,
  },
  {
    name: 'grants what passed its gate',
    breaks: 'I2',
    scenario: twoDeploys('passes-its-gate', GATED),
    decide: blindToTheGate,
  },
  {
    name: 'believes what runs behind a gate',
    breaks: 'I2',
    scenario: twoDeploys('other-binary', GATED),
    decide: blindBehindTheGate,
  },
  {
    name: 'starts it beside what it excludes',
    breaks: 'apart',
    scenario: twoDeploys('good', ALONE),
    decide: asAnyOther,
  },
  {
    name: 'starts it beside a restart that was given up',
    breaks: 'apart',
    scenario: lyingRestart(1_050),
    decide: besideARestart,
    ports: endsSlowly,
  },
  { name: 'cuts what is being served', breaks: 'I12', scenario: busy, decide: withoutPatience },
];
