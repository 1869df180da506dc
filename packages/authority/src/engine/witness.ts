import { absent, type Digest, type Evidence, isRecordId, seen, unknown } from '@idunn/kernel';
import type { IncarnationKey } from '@idunn/readiness';
import type { Plan } from '@idunn/release';
import { isOlderThanClaim } from '../decisions/claim.ts';
import type { Standing } from '../decisions/disclosure.ts';
import { type DeployEvidence, type Slot, UNREAD_SLOT } from '../decisions/evidence.ts';
import { isRestart } from '../decisions/freeze.ts';
import { standsAlone } from '../decisions/manner.ts';
import { phaseRow, type Reading } from '../model/phase-table.ts';
import type { EngineOptions, EnginePorts } from '../ports/engine-ports.ts';
import type { LeaseRows } from '../ports/lease-port.ts';
import type { RunningLaunch, WorkloadHandle } from '../ports/workload-port.ts';
import type { Body, Launch, Subject } from '../records/body.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { Journal } from './journal.ts';
import type { Lane, Readings } from './lane.ts';

/** One activation whose evidence may be wanted. */
interface Witnessed {
  readonly activation: string;
  readonly incarnation: IncarnationKey;
  readonly release: Digest;
  readonly handle: WorkloadHandle | null;
  /** Nothing can run yet under an id that was only issued. */
  readonly mayRun: boolean;
  readonly role: 'successor' | 'predecessor';
}

export interface WitnessContext {
  readonly ports: EnginePorts;
  readonly options: EngineOptions;
  readonly journal: Journal;
  readonly linkDown: () => boolean;
  /** What the observer has not judged since its link came up. */
  readonly standing: () => Promise<readonly Standing[]>;
}

const notRead = unknown('not read');
export const NOTHING_READ: Readings = {
  rows: notRead,
  route: notRead,
  claim: notRead,
  consent: null,
  holder: { issued: false, found: notRead },
  others: notRead,
  processes: {},
};

/** Which readings the state at hand wants, and whether they are taken each time. */
export function readingsOf(
  tx: TransactionRecord,
  plan: Plan | null,
): { readonly reads: readonly Reading[]; readonly each: boolean } {
  const { phase } = tx.state;
  if (phase === 'queued') return { reads: [], each: true };
  if (phase === 'aborting') return { reads: ['predecessor', 'rows'], each: true };
  const row = phaseRow(phase === 'returning' ? 'incumbent-fenced' : phase);
  const stops = plan !== null && standsAlone(plan) && isToStart(tx);
  const more: readonly Reading[] = stops ? row.readsToStop : tx.request.kind === 'takeover' ? ['others'] : [];
  return { reads: [...row.reads, ...more], each: row.read === 'always' };
}

/** The launch at hand, of a candidate or of an incumbent that returns. */
export function launchIn({ state }: TransactionRecord): Launch | null {
  if ('passage' in state) return state.passage?.successor.launch ?? null;
  return 'launch' in state ? state.launch : null;
}

function isToStart(tx: TransactionRecord): boolean {
  const step = launchIn(tx)?.step;
  return step === 'issued' || step === 'minted';
}

/** Reads the processes, rows, claim and route that a state wants. What is not read stays unknown (I10). */
export async function read(
  context: WitnessContext,
  lane: Lane,
  target: TargetRecord,
  plan: Plan | null,
  reads: readonly Reading[],
): Promise<Readings> {
  const { ports, journal } = context;
  const wants = (reading: Reading): boolean => reads.includes(reading);
  const state = plan?.state ?? null;
  const route = plan?.route ?? null;
  const admitted = wants('admitted');
  const wanted = witnessed(lane.tx, target).filter(({ role }) => wants(role) || (admitted && role === 'predecessor'));
  const [rows, claim, served, consent, running, ...processes] = await Promise.all([
    state !== null && (wants('rows') || admitted) ? ports.lease.read(state) : notRead,
    state !== null && wants('claim') ? ports.lease.readClaim(state) : notRead,
    route !== null && (wants('route') || admitted) ? ports.route.read(route.name) : notRead,
    state !== null && wants('claim') ? journal.read('takeover', lane.tx.target) : null,
    wants('others') ? ports.workload.running(lane.tx.target) : notRead,
    ...wanted.map((one) => process(context, lane, one)),
  ]);
  return {
    rows,
    claim,
    route: served,
    consent: consent?.value ?? null,
    holder: await holder(
      context,
      lane.tx.target,
      wanted.map(({ activation }) => activation),
      rows,
    ),
    others: isWarmingOver(lane.tx, claim, target)
      ? await unissued(journal, target, await ports.workload.running(target.target))
      : await beside(context, lane.tx, target, running),
    processes: Object.fromEntries(wanted.map(({ activation }, index) => [activation, processes[index] ?? UNREAD_SLOT])),
  };
}

/**
 * What runs of a target and is none of those that its records name at the moment. What a takeover may end is nothing
 * that other transactions have at work either.
 */
async function beside(
  { journal }: WitnessContext,
  tx: TransactionRecord,
  target: TargetRecord,
  running: Evidence<readonly RunningLaunch[]>,
): Promise<Evidence<readonly RunningLaunch[]>> {
  if (running.kind !== 'seen') return running;
  const known = new Set(witnessed(tx, target).map(({ activation }) => activation));
  const others = running.value.filter(({ activation }) => !known.has(activation));
  const isFree = target.takenBy === null && target.draining.length === 0;
  return tx.request.kind !== 'takeover' || isFree ? seen(others) : unissued(journal, target, seen(others));
}

/** What runs of a target and was issued by no transaction that the records know. */
async function unissued(
  journal: WitnessContext['journal'],
  { target }: TargetRecord,
  running: Evidence<readonly RunningLaunch[]>,
): Promise<Evidence<readonly RunningLaunch[]>> {
  if (running.kind !== 'seen') return running;
  const issued = await Promise.all(running.value.map(({ activation }) => isIssued(journal, target, activation)));
  return seen(running.value.filter((_, index) => issued[index] !== true));
}

/** It is about to take a lease whose claim tells of epochs that no record knows of. */
const isWarmingOver = ({ state }: TransactionRecord, claim: DeployEvidence['claim'], target: TargetRecord): boolean =>
  state.phase === 'warming' && isOlderThanClaim({ claim, target });

async function process(
  { ports }: WitnessContext,
  lane: Lane,
  { activation, release, handle, mayRun }: Witnessed,
): Promise<Pick<Slot, 'found' | 'process'>> {
  if (!mayRun) return { found: notRead, process: notRead };
  const started = lane.answers.get(`start ${activation}`)?.outcome;
  const known = handle ?? (started?.ok === true ? (started.value as WorkloadHandle) : null);
  const found: Evidence<WorkloadHandle> =
    known === null ? await ports.workload.find(lane.tx.target, activation) : seen(known);
  switch (found.kind) {
    case 'seen':
      // One that an engine before this one started: its death is told as any other's (I6).
      if (known === null) ports.workload.watch(found.value);
      return { found, process: await ports.workload.observe(found.value, release) };
    case 'absent':
      return { found, process: absent };
    case 'unknown':
      return { found, process: found };
  }
}

/** Who stands behind a row that names none of the processes at hand. */
export async function holder(
  { ports, journal }: Pick<WitnessContext, 'ports' | 'journal'>,
  target: string,
  known: readonly string[],
  rows: Evidence<LeaseRows>,
): Promise<Readings['holder']> {
  if (rows.kind !== 'seen') return NOTHING_READ.holder;
  const named = Object.values(rows.value).find(({ activation }) => activation !== null)?.activation ?? null;
  if (named === null || known.includes(named)) return { issued: true, found: notRead };
  // A row lies where a workload writes: it may hold any words at all.
  const isOurs = (await isIssued(journal, target, named)) || (await isSpare(journal, target, named));
  return isOurs ? { issued: true, found: await ports.workload.find(target, named) } : { issued: false, found: notRead };
}

/** A transaction of this target has launched it, as far as our records go, or a takeover ended it. */
export async function isIssued(journal: WitnessContext['journal'], target: string, named: string): Promise<boolean> {
  if (!isRecordId(named)) return false;
  const known = (await journal.read('activation', named)) ?? (await journal.read('set-aside', named));
  return known !== null && known.value.target === target;
}

/** Kept for the next restart, as far as our records go: newer ones that were lost may have launched it. */
async function isSpare(journal: WitnessContext['journal'], target: string, named: string): Promise<boolean> {
  return (await journal.read('continuity', target))?.value.spare?.activation === named;
}

/** The live words about every activation that the records name; they are in memory and cost nothing. */
export function words(
  { ports }: WitnessContext,
  lane: Lane,
  target: TargetRecord,
  readings: Readings,
): Readonly<Record<string, Slot>> {
  const observer = ports.observerFor(lane.tx.target);
  const slots: Record<string, Slot> = {};
  for (const { activation, incarnation } of witnessed(lane.tx, target)) {
    const { found, process } = readings.processes[activation] ?? UNREAD_SLOT;
    const presence = ports.channel.presence(activation);
    slots[activation] = { found, process, presence, word: observer.read(incarnation) };
  }
  return slots;
}

type Stops = Pick<DeployEvidence, 'freeze' | 'hold' | 'observer' | 'standing'>;
export const STOPS_NOT_READ: Stops = { freeze: notRead, hold: notRead, observer: notRead, standing: [] };

/** Whether anything that may stop the transaction is read at all. */
export function wantsStops(tx: TransactionRecord, plan: Plan | null): boolean {
  const { reads } = readingsOf(tx, plan);
  return reads.includes('freeze') || reads.includes('observer') || (isRestart(tx) && tx.state.phase === 'planned');
}

/** What may stop the transaction, read each time. */
export async function stops(context: WitnessContext, tx: TransactionRecord, plan: Plan | null): Promise<Stops> {
  const { reads } = readingsOf(tx, plan);
  const { freeze } = context.ports;
  // A restart is not gated by freezes, nor a deployment by holds (I8).
  const restart = isRestart(tx);
  return {
    freeze: reads.includes('freeze') && !restart ? await freeze.read(tx.target, plan?.steward ?? null) : notRead,
    hold:
      restart && (reads.includes('freeze') || tx.state.phase === 'planned')
        ? await freeze.readHold(tx.target)
        : notRead,
    observer: reads.includes('observer') ? await observerUp(context, tx.target) : notRead,
    standing: restart || tx.target === context.options.observerTarget ? [] : await context.standing(),
  };
}

/** Dependents begin nothing that changes the graph before the observer's own target is admitted and reachable. */
async function observerUp({ options, journal, linkDown }: WitnessContext, target: string): Promise<Evidence<'up'>> {
  if (options.observerTarget === target) return seen('up');
  const record = options.observerTarget === null ? null : await journal.read('target', options.observerTarget);
  if (options.observerTarget !== null && !record?.value.admitted) return absent;
  return linkDown() ? unknown('its link is down') : seen('up');
}

function witnessed(tx: TransactionRecord, target: TargetRecord): readonly Witnessed[] {
  const { state } = tx;
  const standing = [target.stranded, target.admitted].filter((body) => body !== null).map(predecessor);
  switch (state.phase) {
    case 'activation-issued':
    case 'candidate-started':
    case 'activation-observed':
    case 'warming':
      return [successor(state.subject, state.launch), ...standing];
    case 'incumbent-fenced':
    case 'write-lease-granted':
    case 'ready-observed':
    case 'route-published':
    case 'route-observed':
      return [
        successor(state.passage.successor.subject, state.passage.successor.launch),
        ...state.passage.predecessors.map(predecessor),
      ];
    case 'returning': {
      const { passage, candidate } = state;
      if (passage === null) return [successor(candidate.subject, candidate.launch)];
      return [
        successor(passage.successor.subject, passage.successor.launch),
        ...passage.predecessors.map(predecessor),
        ...(passage.predecessors.length === 0 ? [successor(candidate.subject, candidate.launch)] : []),
      ];
    }
    case 'aborting':
      return state.subject !== null && state.launch !== null
        ? [successor(state.subject, state.launch), ...standing]
        : standing;
    case 'queued':
    case 'planned':
    case 'materialized':
    case 'sealed':
    case 'expected-published':
    case 'draining':
    case 'complete':
      return standing;
  }
}

const predecessor = (body: Body): Witnessed => ({
  activation: body.document.activation,
  incarnation: body.incarnation,
  release: body.release,
  handle: body.handle,
  mayRun: true,
  role: 'predecessor',
});

const successor = (subject: Subject, launch: Launch): Witnessed => ({
  activation: launch.id,
  incarnation: subject.incarnation,
  release: subject.release,
  handle: launch.step === 'observed' || launch.step === 'current' ? launch.handle : null,
  mayRun: launch.step !== 'issued',
  role: 'successor',
});
