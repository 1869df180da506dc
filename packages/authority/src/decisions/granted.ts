import { type Refusal, seen } from '@idunn/kernel';
import type { Plan, RouteContract } from '@idunn/release';
import type { Running } from '../records/body.ts';
import { type Decision, insist, type Persistence, repeat, tolerate, wait } from './decision.ts';
import type { AnswerTo, EffectOf } from './effects.ts';
import { answerTo, type DeployEvidence, incarnationOf } from './evidence.ts';
import { judgeWord } from './judge-word.ts';
import { exited } from './launch.ts';
import { memberOf, routeNames } from './member.ts';
import type { PassageFrame } from './passage-frame.ts';
import { receiptAtHand } from './receipt.ts';
import { readRows } from './rows.ts';
import { otherBinary } from './sealed.ts';

/**
 * The row names the successor: grant, `active`, Ready, publish, observe, confirm. Nothing durable lies between them.
 */
export function decideGranted(f: PassageFrame, epoch: number | null, died: (why: Refusal) => Decision): Decision {
  const { launch } = f.passage.successor;
  if (launch.step !== 'current') throw new Error('only a current launch is granted anything');
  const running = (): Decision => throughGate(f, launch, died, active);
  const active = (): Decision => {
    const back = f.passage.direction === 'back';
    const judged = judgeWord(f.e, f.plan, launch.id, { granted: epoch, ...(back ? { brought: launch } : {}) });
    if (judged.kind === 'wrong') return died(judged.why);
    // A receipt that was given before the observer went says so too.
    const vouched = judged.kind === 'silent' && receiptAtHand(f.e, f.passage)?.epoch === epoch;
    if (judged.kind === 'active' || (vouched && epoch === null)) return ready(f, launch, epoch);
    return { reached: 'write-lease-granted', ...awaitActive(f, launch, epoch) };
  };
  return push(f, launch, epoch, running);
}

/**
 * The grant opened the gate: what has become of the launcher is observed again and held against the seal, and the
 * activation is published again with it (I2, I4). The passage then keeps what was seen, so that this is done once.
 */
function throughGate(
  f: PassageFrame,
  launch: Running,
  died: (why: Refusal) => Decision,
  then: () => Decision,
): Decision {
  if (launch.observed.gate !== 'waiting') return then();
  const { e, passage } = f;
  const { subject } = passage.successor;
  const effect = { kind: 'observe-process', handle: launch.handle, release: subject.release } as const;
  const what = `${launch.id} to run behind its gate`;
  const persistence = waitingFor(f, what);
  const decision = insist(e, effect, persistence, (observed) => {
    if (observed === null) return died(exited(launch.id));
    if (observed.gate === 'waiting') return repeat(e, effect, persistence);
    const { release } = incarnationOf(e, subject.incarnation);
    const back = passage.direction === 'back';
    const other = otherBinary({ plan: f.plan, release, back }, launch.handle, observed);
    if (other !== null) return died(other);
    const publication = { kind: 'publish-activation', document: launch.document, observed } as const;
    const told = 'the observer to take what runs now';
    const running = (): Decision => f.keep({ ...passage, successor: { subject, launch: { ...launch, observed } } });
    // Going back asks for no Ready, and an observer that is away is told later.
    if (passage.direction === 'back') return tolerate(e, publication, { what: told, attempts: 1 }, running);
    return insist(e, publication, waitingFor(f, told), running);
  });
  return { reached: 'write-lease-granted', ...decision };
}

/** Going back asks no observer: without state too the program says on its own connection that it is active (I4). */
function awaitActive(f: PassageFrame, launch: Running, epoch: number | null): Decision {
  const what = `${launch.id} to be active${under(epoch)}`;
  const waiting = (): Decision => waitFor(f, what);
  if (f.passage.direction === 'forward' || epoch !== null) return waiting();
  return insist(f.e, { kind: 'open-channel', handle: launch.handle }, waitingFor(f, what), waiting);
}

const under = (epoch: number | null): string => (epoch === null ? '' : ` under epoch ${epoch}`);

/** The grant is pushed to the one process whose key the channel proved; never polled (I5). */
function push(f: PassageFrame, launch: Running, epoch: number | null, then: () => Decision): Decision {
  const { e, plan } = f;
  if (epoch === null || plan.state === null) return then();
  const grant = { kind: 'grant', grant: { activation: launch.id, stateId: plan.state.stateId, epoch } } as const;
  const open = { kind: 'open-channel', handle: launch.handle } as const;
  const connected = waitingFor(f, 'the lease connection');
  return insist(e, open, connected, () =>
    foundNoConnection(e, open, grant)
      ? repeat(e, open, connected)
      : insist(e, grant, waitingFor(f, 'the delivery of the grant'), then),
  );
}

/** A grant that found no connection says more than the answer before it that one was opened. */
function foundNoConnection(e: DeployEvidence, open: EffectOf<'open-channel'>, grant: EffectOf<'grant'>): boolean {
  const [opened, granted] = [answerTo(e, open), answerTo(e, grant)];
  if (opened === undefined || granted === undefined || granted.outcome.ok) return false;
  return granted.outcome.refusal.code === 'channel-closed' && opened.atMs <= granted.atMs;
}

/**
 * Going forward needs the observer's Ready for this activation and epoch, also while it is away the one that it gave;
 * going back continues without (I4).
 */
function ready(f: PassageFrame, launch: Running, epoch: number | null): Decision {
  const holds = receiptAtHand(f.e, f.passage)?.epoch === epoch;
  if (f.passage.direction === 'forward' && !holds) {
    return { reached: 'ready-observed', ...waitFor(f, 'the observer’s Ready receipt') };
  }
  const { route } = f.plan;
  return route === null ? confirm(f, launch, epoch) : publish(f, launch, epoch, route);
}

/**
 * After an uncertain answer the route is read before anything is done again (F8). Going back, a publication of the way
 * forward may still be on its way to the proxy, and no reading tells: a stage of our own takes the place of its stage,
 * whatever the route names now (I3).
 */
function publish(f: PassageFrame, launch: Running, epoch: number | null, route: RouteContract): Decision {
  const { e, passage } = f;
  if (passage.direction === 'forward' && routeNames(e.route, launch.id)) return observe(f, launch, epoch, route);
  const members = [memberOf(passage.successor.subject, launch.document)];
  const stage = { kind: 'stage-route', plan: passage.successor.subject.plan, members } as const;
  const decision = insist(e, stage, waitingFor(f, 'the proxy to validate the route', DOCTOR), (staged) => {
    const publication = { kind: 'publish-route', staged } as const;
    const published = waitingFor(f, 'the proxy to publish the route', DOCTOR);
    return wasNotPublished(f, publication)
      ? repeat(e, stage, published)
      : insist(e, publication, published, () => observe(f, launch, epoch, route));
  });
  return { reached: 'route-published', ...decision };
}

/** How often the proxy must be seen otherwise before its word that it published is worth nothing. */
const SEEN_OTHERWISE = 2;

/**
 * The stage is gone, or the proxy said that it serves it and was seen to serve another incarnation, or to name another
 * launch of the same one, twice: it is staged and published anew.
 */
function wasNotPublished({ e, passage }: PassageFrame, publication: EffectOf<'publish-route'>): boolean {
  const published = answerTo(e, publication);
  if (published === undefined) return false;
  if (!published.outcome.ok) return published.outcome.refusal.code === 'route-stage-unknown';
  const { subject, launch } = passage.successor;
  const since = <K extends 'observe-route' | 'confirm'>(effect: EffectOf<K>): AnswerTo<K> | null => {
    const answered = answerTo<K>(e, effect);
    const isTold = answered !== undefined && answered.atMs > published.atMs && answered.attempts >= SEEN_OTHERWISE;
    return isTold && answered.outcome.ok ? answered.outcome.value : null;
  };
  const observed = since<'observe-route'>({ kind: 'observe-route', route: '', path: null });
  const route = since<'confirm'>({ kind: 'confirm', plan: subject.plan, activation: launch.id })?.route ?? null;
  const namesAnother = route !== null && !routeNames(seen(route), launch.id);
  return namesAnother || (observed !== null && observed.incarnation !== subject.incarnation);
}

/** The proxy itself is seen to serve the new member: its lag is a state, not a readiness. */
function observe(f: PassageFrame, launch: Running, epoch: number | null, route: RouteContract): Decision {
  const { e, plan, passage } = f;
  const path = route.protocol === 'tcp' ? null : (plan.health.path ?? '/');
  const effect = { kind: 'observe-route', route: route.name, path } as const;
  const what = 'the proxy to be seen serving the new member';
  const decision = insist(e, effect, waitingFor(f, what, DOCTOR), ({ incarnation, status }) => {
    const served = incarnation === passage.successor.subject.incarnation;
    if (served && isGood(plan, status)) return confirm(f, launch, epoch);
    const answered = `it answered ${status ?? 'nothing'} from ${incarnation ?? 'nobody'}`;
    return repeat(e, effect, waitingFor(f, `${what}: ${answered}`, DOCTOR));
  });
  return { reached: 'route-observed', ...decision };
}

/** What counts as served: a connection, a good answer, or any answer where the health contract names no request. */
function isGood({ route, health }: Plan, status: number | null): boolean {
  if (route?.protocol === 'tcp') return true;
  if (status === null) return false;
  if (health.path === null) return true;
  return status >= 200 && status < 300;
}

/** Records first; then sync, and both authorities are read again: each must name this process by itself (I3). */
function confirm(f: PassageFrame, launch: Running, epoch: number | null): Decision {
  const { e, plan, passage, tx } = f;
  if (passage.direction === 'forward' && tx.state.phase !== 'route-observed') {
    return { ...f.arrived(epoch), reached: 'route-observed' };
  }
  const effect = { kind: 'confirm', plan: passage.successor.subject.plan, activation: launch.id } as const;
  const what = 'lease and route, each read again';
  const decision = insist(e, effect, waitingFor(f, what, DOCTOR), (read) => {
    const leased = plan.state === null || namesInRows(read.rows, launch.id, epoch);
    const routed = plan.route === null || (read.route !== null && routeNames(seen(read.route), launch.id));
    if (leased && routed) return f.confirmed(epoch, read);
    const other = `${what}: ${leased ? 'the route' : 'the lease'} names another`;
    return repeat(e, effect, waitingFor(f, other, 'idunn inspect'));
  });
  return { reached: 'route-observed', ...decision };
}

function namesInRows(rows: Parameters<typeof readRows>[0] | null, activation: string, epoch: number | null): boolean {
  if (rows === null) return false;
  const reading = readRows(rows, null);
  return reading.kind === 'uniform' && reading.standing.activation === activation && reading.standing.epoch === epoch;
}

const DOCTOR = 'idunn doctor';

const waitingFor = (
  { untilMs }: PassageFrame,
  what: string,
  remedy = 'idunn logs shows what it does; after the deadline Idunn returns',
): Persistence => ({ what, remedy, untilMs });

function waitFor(f: PassageFrame, what: string): Decision {
  const { remedy, untilMs } = waitingFor(f, what);
  return wait(what, remedy, { untilMs, wakeAtMs: untilMs });
}
