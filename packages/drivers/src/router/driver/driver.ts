import type { LinkPort, RouteEvent, RoutePort } from '@idunn/authority';
import {
  absent,
  type Clock,
  type Evidence,
  type Ids,
  type Outcome,
  ok,
  seen,
  type Timers,
  unknown,
} from '@idunn/kernel';
import { hungAt } from '../../helper/hung.ts';
import { HelperKeeper, withOutdated } from '../../helper/keeper.ts';
import { type Answer, ControlLink, outcomeOf } from '../../helper/link.ts';
import { type Answers, type Ask, type Hello, type Notice, type Operation, PROTOCOL } from '../control/protocol.ts';
import type { RouterMetrics } from '../router.ts';
import { requestThroughRoute } from './observe.ts';
import { routerProgram } from './program.ts';

export interface RouterDriverOptions {
  /** The program by argv, without the router's own options; this installation's own when left out. */
  readonly program?: readonly [string, ...string[]];
  readonly fleet: string;
  readonly controlSocket: string;
  readonly stateFile: string;
  readonly logFile: string;
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

interface RouterProtocol {
  readonly asks: { readonly [O in Operation]: Ask<O> };
  readonly answers: Answers;
  readonly notice: Notice;
}

type PortEvents = 'drain' | 'subscribe';

/** The route port on the built-in router. */
export interface RouterDriver extends Omit<RoutePort, PortEvents>, Required<Pick<RoutePort, PortEvents>> {
  /**
   * Connects to the fleet's router, starting it when none runs, and from then on keeps it running. Concurrent calls
   * share one attempt.
   */
  ensure(): Promise<Outcome<RouterStatus>>;
  /** As `ensure`, for somebody who only looks: answered within two seconds, though it is looked for on. */
  look(): Promise<Outcome<RouterStatus>>;
  /** Reads every certificate file of every route again. */
  reloadCertificates(): Promise<Outcome<'reloaded'>>;
  /** The router's counters, for metrics; `unknown` while it does not answer. */
  metrics(): Promise<Evidence<RouterMetrics>>;
  /** Ends the router itself: it stops listening and lets open requests end. */
  stop(): Promise<Outcome<'stopping'>>;
  readonly link: LinkPort;
  /** Lets go of the router, which goes on serving. */
  close(): void;
}

/** Within these a healthy router answers even on a busy disk. */
const ANSWER_MS = 2_000;
const DURABLE_ANSWER_MS = 15_000;
const OBSERVE_MS = 5_000;
/** The start of a program, at most, and what it waits for. */
const SUCCEED_MS = 20_000;
const ROUTER = { name: 'router', unreachable: 'router-unreachable', lost: 'router-answer-lost' } as const;

export function createRouterDriver(options: RouterDriverOptions): RouterDriver {
  const { timers, ids } = options;
  const { fleet, controlSocket, stateFile, logFile, build = 'unknown', program = routerProgram() } = options;
  const listeners = new Set<(event: RouteEvent) => void>();
  const tell = (event: RouteEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const link = new ControlLink<RouterProtocol>({
    ...ROUTER,
    controlSocket,
    greeting: { protocol: PROTOCOL, fleet },
    timers,
    state(state) {
      tell({ kind: 'link', state });
      if (state === 'down') keeper.lost();
    },
    notice: ({ event }) => tell(event),
  });
  const words = ['--fleet', fleet, '--control', controlSocket, '--state', stateFile, '--log', logFile];
  // A router that died is an outage of every route.
  const keeper = new HelperKeeper<RouterProtocol>({
    link,
    launch: {
      name: 'router',
      argv: [...program, ...words, '--build', build, '--notify'],
      files: [controlSocket, stateFile],
      logFile,
      failed: 'router-start-failed',
    },
    codes: { unreachable: 'router-unreachable', alreadyRunning: 'router-already-running' },
    async replace(hello) {
      if (hello.build === build) return 'stays';
      const answer = await link.call('succeed', { program: [...program], build }, SUCCEED_MS);
      return answer.kind === 'lost' ? 'asked' : 'stays';
    },
    // Connections that it carries would end with it, where it only hangs for a while.
    hung: { find: hungAt(controlSocket, options.clock).find },
    timers,
  });

  return {
    link: keeper,
    async ensure() {
      return withOutdated(await keeper.ensure(), build);
    },
    async look() {
      return withOutdated(await keeper.look(), build);
    },
    async read(route) {
      return evidence(await link.call('read', { route }, ANSWER_MS));
    },
    async stage(target, contract, members) {
      return outcomeOf(
        await link.call('stage', { target, contract, members: [...members] }, DURABLE_ANSWER_MS),
        ROUTER,
      );
    },
    async hold(route, termMs) {
      return outcomeOf(await link.call('hold', { route, termMs }, ANSWER_MS), ROUTER);
    },
    async release(route) {
      return outcomeOf(await link.call('release', { route }, ANSWER_MS), ROUTER);
    },
    async publish(staged) {
      const answer = outcomeOf(await link.call('publish', staged, ANSWER_MS), ROUTER);
      return answer.ok ? ok('published') : answer;
    },
    async observe(route, path) {
      if (path === null) {
        const reached = evidence(await link.call('observe-stream', { route }, OBSERVE_MS));
        if (reached.kind === 'seen') return seen({ incarnation: reached.value.incarnation, status: null, body: null });
        return reached.kind === 'absent' ? unknown('no member could be connected to') : reached;
      }
      const nonce = ids.fresh('observe');
      const [read, registered] = await Promise.all([
        link.call('read', { route }, ANSWER_MS),
        link.call('expect-observation', { route, nonce }, ANSWER_MS),
      ]);
      const state = evidence(read);
      if (state.kind !== 'seen') return state;
      if (registered.kind !== 'value') return unknown(because(registered));
      const glimpse = await requestThroughRoute(state.value, path, nonce, OBSERVE_MS, timers);
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
      return outcomeOf(await link.call('remove', { route }, DURABLE_ANSWER_MS), ROUTER);
    },
    async switchReport(route) {
      return evidence(await link.call('switch-report', { route }, ANSWER_MS));
    },
    async reloadCertificates() {
      return outcomeOf(await link.call('reload-certificates', {}, DURABLE_ANSWER_MS), ROUTER);
    },
    async metrics() {
      return evidence(await link.call('metrics', {}, ANSWER_MS));
    },
    async stop() {
      keeper.letGo();
      return outcomeOf(await link.call('stop', {}, ANSWER_MS), ROUTER);
    },
    subscribe(listener) {
      listeners.add(listener);
    },
    close() {
      keeper.letGo();
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
