import type { RouteEvent, RoutePort } from '@idunn/authority';
import {
  absent,
  type Clock,
  type Evidence,
  type Ids,
  type Outcome,
  ok,
  refusal,
  refused,
  seen,
  type Timers,
  unknown,
} from '@idunn/kernel';
import type { Hello } from '../control/protocol.ts';
import type { RouterMetrics } from '../router.ts';
import { type Answer, ControlLink } from './link.ts';
import { requestThroughRoute } from './observe.ts';
import { routerProgram } from './program.ts';
import { type RouterLaunch, startRouter } from './start.ts';

export interface RouterDriverOptions extends Omit<RouterLaunch, 'program' | 'build'> {
  /** The program by argv; this installation's own when left out. */
  readonly program?: RouterLaunch['program'];
  /** Digest of the installed bytes, to tell when the running router was started from others. */
  readonly build?: string;
  /** Takes an activation's secrets out of a text that goes into messages and history (F30). */
  readonly redact: (activation: string, text: string) => Promise<string>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
}

export interface RouterStatus extends Hello {
  /** The running router was started from other bytes than are installed now. */
  readonly outdated: boolean;
}

type PortEvents = 'drain' | 'subscribe';

/** The route port on the built-in router. */
export interface RouterDriver extends Omit<RoutePort, PortEvents>, Required<Pick<RoutePort, PortEvents>> {
  /**
   * Connects to the fleet's router, starting it when none runs, and from then on keeps it running. Concurrent calls
   * share one attempt.
   */
  ensure(): Promise<Outcome<RouterStatus>>;
  /** The router's counters, for metrics; `unknown` while it does not answer. */
  metrics(): Promise<Evidence<RouterMetrics>>;
  /** Ends the router itself: it stops listening and lets open requests end. */
  stop(): Promise<Outcome<'stopping'>>;
  /** Lets go of the router, which goes on serving. */
  close(): void;
}

/** Within these a healthy router answers even on a busy disk. */
const ANSWER_MS = 2_000;
const DURABLE_ANSWER_MS = 15_000;
const OBSERVE_MS = 5_000;
const RECONNECT_MS = { first: 5, most: 1_000 };
/** How often a router that somebody else is starting is looked for, and how often at most. */
const ELSEWHERE = { everyMs: 20, times: 250 };

export function createRouterDriver(options: RouterDriverOptions): RouterDriver {
  const { timers, ids } = options;
  const build = options.build ?? 'unknown';
  const launch: RouterLaunch = { ...options, program: options.program ?? routerProgram(), build };
  const listeners = new Set<(event: RouteEvent) => void>();
  let ensuring: Promise<Outcome<RouterStatus>> | null = null;
  let kept = false;

  const link = new ControlLink({
    controlSocket: options.controlSocket,
    fleet: options.fleet,
    timers,
    event(event) {
      for (const listener of listeners) listener(event);
      if (event.kind === 'link' && event.state === 'down' && kept) void revive(RECONNECT_MS.first);
    },
  });

  const pause = (ms: number): Promise<void> => new Promise((resolve) => void timers.after(ms, resolve));

  async function reach(): Promise<Outcome<Hello>> {
    const running = await link.connect();
    if (running.ok || running.refusal.code !== 'router-unreachable') return running;
    const started = await startRouter(launch, timers);
    if (started.ok) return link.connect();
    if (started.refusal.code !== 'router-already-running') return started;
    for (let attempt = 0; attempt < ELSEWHERE.times; attempt++) {
      const elsewhere = await link.connect();
      if (elsewhere.ok || elsewhere.refusal.code !== 'router-unreachable') return elsewhere;
      await pause(ELSEWHERE.everyMs);
    }
    return running;
  }

  function attempt(): Promise<Outcome<RouterStatus>> {
    ensuring ??= reach()
      .then((reached) => (reached.ok ? ok({ ...reached.value, outdated: reached.value.build !== build }) : reached))
      .finally(() => {
        ensuring = null;
        if (!kept) link.close(); // It was let go while it was looked for.
      });
    return ensuring;
  }

  /** A router that died is an outage of every route: it comes back at once, then with a growing wait, for ever. */
  async function revive(waitMs: number): Promise<void> {
    if (!kept || (await attempt()).ok) return;
    await pause(waitMs);
    await revive(Math.min(waitMs * 2, RECONNECT_MS.most));
  }

  return {
    ensure() {
      kept = true;
      return attempt();
    },
    async read(route) {
      return evidence(await link.call('read', { route }, ANSWER_MS));
    },
    async stage(target, contract, members) {
      return outcome(await link.call('stage', { target, contract, members: [...members] }, DURABLE_ANSWER_MS));
    },
    async hold(route, termMs) {
      return outcome(await link.call('hold', { route, termMs }, ANSWER_MS));
    },
    async release(route) {
      return outcome(await link.call('release', { route }, ANSWER_MS));
    },
    async publish(staged) {
      const answer = outcome(await link.call('publish', staged, ANSWER_MS));
      return answer.ok ? ok('published') : answer;
    },
    async observe(route, path) {
      const nonce = ids.fresh('observe');
      const [read, registered] = await Promise.all([
        link.call('read', { route }, ANSWER_MS),
        link.call('expect-observation', { route, nonce }, ANSWER_MS),
      ]);
      const state = evidence(read);
      if (state.kind !== 'seen') return state;
      if (registered.kind !== 'value') return unknown(because(registered));
      const glimpse = await requestThroughRoute(state.value.listen, path, nonce, OBSERVE_MS, timers);
      const taken = evidence(await link.call('take-observation', { nonce }, ANSWER_MS));
      if (taken.kind === 'unknown') return taken;
      if (taken.kind === 'absent') {
        const itself = 'no member answered: the router answered by itself';
        return unknown(glimpse.kind === 'failed' ? glimpse.because : itself);
      }
      const { member, status } = taken.value;
      const said = glimpse.kind === 'answered' ? glimpse.body : null;
      const body = said === null ? null : await options.redact(member.activation, said);
      return seen({ incarnation: member.incarnation, status, body });
    },
    async open(route, incarnation) {
      return evidence(await link.call('open', { route, incarnation }, ANSWER_MS));
    },
    async drain(route, incarnation, withinMs) {
      return evidence(await link.call('drain', { route, incarnation, withinMs }, ANSWER_MS));
    },
    async remove(route) {
      return outcome(await link.call('remove', { route }, DURABLE_ANSWER_MS));
    },
    async switchReport(route) {
      return evidence(await link.call('switch-report', { route }, ANSWER_MS));
    },
    async metrics() {
      return evidence(await link.call('metrics', {}, ANSWER_MS));
    },
    async stop() {
      kept = false;
      return outcome(await link.call('stop', {}, ANSWER_MS));
    },
    subscribe(listener) {
      listeners.add(listener);
    },
    close() {
      kept = false;
      link.close();
    },
  };
}

function because(answer: Exclude<Answer<unknown>, { kind: 'value' }>): string {
  return answer.kind === 'refused' ? answer.refusal.reason : answer.because;
}

/** A refusal to say is no absence (I10). */
function evidence<T>(answer: Answer<T>): Evidence<NonNullable<T>> {
  if (answer.kind !== 'value') return unknown(because(answer));
  return answer.value === null || answer.value === undefined ? absent : seen(answer.value);
}

function outcome<T>(answer: Answer<T>): Outcome<T> {
  switch (answer.kind) {
    case 'value':
      return ok(answer.value);
    case 'refused':
      return refused(answer.refusal);
    case 'unreachable':
      return refused(refusal('router-unreachable', `The router does not answer: ${answer.because}.`));
    case 'lost':
      return refused(refusal('router-answer-lost', `The router was asked, but ${answer.because}.`));
  }
}
