import { type Code, catalogue, type Evidence, type Moment, moment } from '@idunn/kernel';
import type { Plan, Steward } from '@idunn/release';
import type { IncidentCode } from '../model/incident-code.ts';
import type { EnginePorts } from '../ports/engine-ports.ts';
import type { Freeze } from '../ports/freeze-port.ts';
import type { LeaseRows } from '../ports/lease-port.ts';
import type { Body, Launch, Subject } from '../records/body.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { TargetActor } from './actor.ts';
import type { IncarnationView, StopView, TargetView } from './api.ts';
import type { EngineCore } from './core.ts';
import { isoAt, isoAtMs, kindOf, noteOf } from './show.ts';

/** A target with no record yet: never deployed. What stops it is known all the same. */
async function neverRun(core: EngineCore, target: string): Promise<TargetView> {
  const { freeze, hold, unread } = await stopsOn(core, target, null);
  const since = isoAt(moment(core.ports.clock));
  return {
    target,
    desired: 'down',
    admitted: null,
    incarnations: [],
    lease: null,
    route: null,
    static: null,
    rollout: null,
    transaction: null,
    queued: [],
    continuity: { streak: 0, nextAttemptAt: null },
    freezes: freeze,
    hold,
    incidents: unread.map((one) => ({ ...one, subject: target, since, remedy: catalogue[one.code].remedy })),
  };
}

/** What could not be read when the status was asked for: told there, and not kept as an incident. */
interface Unread {
  readonly code: IncidentCode | 'incumbent-unseen' | 'route-unreadable';
  readonly detail: string;
}

const stopView = ({ by, reason, since, clearedBy }: Freeze): StopView => ({ by, reason, since, clearedBy });

/** The stops on a target, each read now. */
async function stopsOn(
  { ports }: EngineCore,
  target: string,
  steward: Steward | null,
): Promise<{ readonly freeze: TargetView['freezes']; readonly hold: TargetView['hold']; readonly unread: Unread[] }> {
  const [freeze, hold] = await Promise.all([ports.freeze.read(target, steward), ports.freeze.readHold(target)]);
  const unread: Unread[] = [];
  if (freeze.kind === 'unknown') unread.push({ code: 'stop-unreadable', detail: freeze.because });
  if (hold.kind === 'unknown') unread.push({ code: 'hold-unreadable', detail: hold.because });
  return {
    freeze: (freeze.kind === 'seen' ? [freeze.value, ...(freeze.value.also ?? [])] : []).map(stopView),
    hold: hold.kind === 'seen' ? stopView(hold.value) : null,
    unread,
  };
}

/** One target from records and live evidence; what cannot be read shows as null with an incident, never as a guess. */
export async function targetView(core: EngineCore, actor: TargetActor | null, target: string): Promise<TargetView> {
  const held = actor === null ? null : await core.journal.read('target', target);
  if (actor === null || held === null) return neverRun(core, target);
  const record = held.value;
  const { ports } = core;
  const now = moment(ports.clock);
  const admitted = record.admitted;
  const desired = await core.journal.read('desired', target);
  const plan = admitted === null ? null : await core.library.plan(admitted.plan);
  const state = plan?.state ?? null;
  const contract = plan?.route ?? null;
  const head = record.queue[0];
  const shown = head ?? record.restart ?? undefined;
  const lane = shown === undefined ? undefined : actor.lanes.get(shown);
  const steward = await stewardOf(core, lane?.tx, plan);
  const [rows, route, stops, process] = await Promise.all([
    state === null ? null : ports.lease.read(state),
    contract === null ? null : ports.route.read(contract.name),
    stopsOn(core, target, steward),
    admitted === null ? null : ports.workload.observe(admitted.handle, admitted.release),
  ]);
  const unread = [...stops.unread];
  if (rows?.kind === 'unknown') unread.push({ code: 'lease-row-unreadable', detail: rows.because });
  if (route?.kind === 'unknown') unread.push({ code: 'route-unreadable', detail: route.because });
  if (process?.kind === 'unknown') unread.push({ code: 'incumbent-unseen', detail: process.because });
  const causes = new Map<Code, string>([...core.incidents.causes(target), ...actor.causes()]);
  const queued = await Promise.all(record.queue.slice(1).map((id) => core.journal.read('transaction', id)));
  const { waiting } = actor.vigil;
  return {
    target,
    desired: desired?.value.desired ?? 'down',
    admitted:
      admitted === null
        ? null
        : {
            incarnation: admitted.incarnation,
            release: admitted.release,
            build: admitted.build,
            revision: admitted.revision,
            activation: admitted.document.activation,
            processes: process?.kind === 'seen' ? [{ pid: process.value.identity.pid }] : [],
            admittedAt: isoAt(admitted.admittedAt),
          },
    incarnations: incarnations(core, actor, admitted, process?.kind === 'absent', now),
    lease: rows === null ? null : leaseOf(rows),
    route:
      route?.kind === 'seen' && contract !== null
        ? {
            endpoint: `${contract.listen.host}:${contract.listen.port}`,
            members: route.value.members.map(({ incarnation, backend }) => ({
              incarnation,
              backend: `${backend.host}:${backend.port}`,
            })),
            certificates: route.value.certificates.map(({ file, names, expiresAtMs }) => ({
              file,
              names,
              expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
            })),
          }
        : null,
    static: null,
    rollout: plan?.rollout ?? null,
    transaction:
      lane === undefined
        ? null
        : {
            id: lane.tx.id,
            kind: kindOf(lane.tx),
            phase: lane.tx.state.phase,
            since: isoAt(lane.tx.since),
            waitingOn: lane.waiting === null ? null : noteOf(lane.waiting, now),
          },
    queued: queued
      .filter((one) => one !== null)
      .map(({ value }) => ({ transaction: value.id, actor: value.actor, since: isoAt(value.intakeAt) })),
    continuity: {
      streak: actor.vigil.streak,
      nextAttemptAt: waiting === null || waiting.attemptAtMs === null ? null : isoAtMs(waiting.attemptAtMs, now),
    },
    freezes: stops.freeze,
    hold: stops.hold,
    incidents: [
      ...[...causes].map(([code, detail]) => ({
        code,
        detail,
        since: isoAt(core.incidents.since(target, code) ?? now),
      })),
      ...unread.filter(({ code }) => !causes.has(code)).map((one) => ({ ...one, since: isoAt(now) })),
    ].map(({ code, detail, since }) => ({ code, subject: target, since, detail, remedy: catalogue[code].remedy })),
  };
}

/** Whose second freeze counts: of the deployment at work, as it was planned, else of what is admitted (I8). */
export async function stewardOf(
  { library }: { readonly library: Pick<EngineCore['library'], 'plan'> },
  tx: TransactionRecord | undefined,
  admitted: Plan | null,
): Promise<Steward | null> {
  const subject = tx === undefined ? null : (candidateOf(tx)?.subject ?? null);
  const digest = subject?.plan ?? (tx !== undefined && 'plan' in tx.state ? tx.state.plan : null);
  const plan = digest === null ? null : await library.plan(digest);
  return (plan ?? admitted)?.steward ?? null;
}

function leaseOf(rows: Evidence<LeaseRows>): TargetView['lease'] {
  if (rows.kind !== 'seen') return null;
  const list = Object.values(rows.value);
  const highest = list.reduce((most, { epoch }) => Math.max(most, epoch), 0);
  const named = list[0]?.activation ?? null;
  if (list.length === 0 || highest === 0) return { epoch: 0, activation: null, state: 'none' };
  if (named === null || !list.every(({ activation }) => activation === named)) {
    return { epoch: highest, activation: null, state: 'revoked' };
  }
  return { epoch: highest, activation: named, state: 'held' };
}

function incarnations(
  { ports }: EngineCore,
  actor: TargetActor,
  admitted: Body | null,
  lost: boolean,
  now: Moment,
): readonly IncarnationView[] {
  const shown: IncarnationView[] = [];
  const show = (role: IncarnationView['role'], subject: Subject, activation: string | null): void => {
    if (shown.some((one) => one.incarnation === subject.incarnation && one.role === role)) return;
    shown.push(incarnationView(ports, actor.target, role, subject, activation, now));
  };
  if (admitted !== null) show('admitted', admitted, admitted.document.activation);
  // The driver saw it gone: its last word is old, whatever its age, and nothing is ready (I4).
  if (lost) shown.push(...shown.splice(0).map(withoutProcess));
  for (const { tx } of actor.lanes.values()) {
    const candidate = candidateOf(tx);
    if (candidate !== null) show('candidate', candidate.subject, candidate.launch?.id ?? null);
    if (tx.state.phase === 'draining') {
      for (const body of tx.state.leaving) show('draining', body, body.document.activation);
    }
  }
  return shown;
}

const withoutProcess = (view: IncarnationView): IncarnationView => ({
  ...view,
  present: view.present === null ? null : { ...view.present, fresh: false },
  ready: null,
});

function candidateOf({ state }: TransactionRecord): { subject: Subject; launch: Launch | null } | null {
  if ('candidate' in state) return state.candidate;
  if ('passage' in state) return state.passage.successor;
  if (!('subject' in state) || state.subject === null) return null;
  return { subject: state.subject, launch: 'launch' in state ? state.launch : null };
}

function incarnationView(
  ports: EnginePorts,
  target: string,
  role: IncarnationView['role'],
  subject: Subject,
  activation: string | null,
  now: Moment,
): IncarnationView {
  const { incarnation, release, build, revision } = subject;
  const word = ports.observerFor(target).read(incarnation);
  const said =
    word.kind === 'seen' && (activation === null || word.value.activation === activation) ? word.value : null;
  const present = said?.present ?? null;
  const ready = said?.ready ?? null;
  // Observed on the monotonic clock, shown on the wall clock of now (F29).
  const observedAt = (atMs: number): string => isoAtMs(atMs, now);
  return {
    incarnation,
    role,
    expected: { release, build, revision },
    activation,
    present:
      present === null
        ? null
        : {
            state: present.state,
            sequence: present.sequence,
            observedAt: observedAt(present.observedAtMs),
            fresh: present.fresh,
          },
    ready: ready === null ? null : { receipt: ready.receipt, observedAt: observedAt(ready.observedAtMs) },
    disagreements: said?.disagreements ?? [],
  };
}
