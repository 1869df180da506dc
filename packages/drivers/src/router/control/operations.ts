import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { faultsOf } from '../model/schema.ts';
import type { Router } from '../router.ts';
import type { Gate } from '../succession/gate.ts';
import { type Answers, type Ask, asks, type Hello, isOperation, type Operation, PROTOCOL } from './protocol.ts';

export interface OperationContext {
  readonly router: Router;
  readonly hello: Hello;
  /** Begins the router's end. */
  readonly stop: () => void;
  /** What changes the router passes here, so that it can be held up while a successor takes over. */
  readonly gate: Gate;
  /** Hands over to a successor. */
  readonly succeed: (ask: Ask<'succeed'>) => Promise<Outcome<'succeeded'>>;
}

type Handlers = {
  readonly [O in Operation]: (
    context: OperationContext,
    ask: Ask<O>,
  ) => Outcome<Answers[O]> | Promise<Outcome<Answers[O]>>;
};

const handlers: Handlers = {
  hello: ({ hello }, ask) => welcome(hello, ask),
  read: ({ router }, ask) => router.read(ask.route),
  stage: ({ router }, ask) => router.stage(ask),
  publish: ({ router }, ask) => router.publish(ask),
  hold: ({ router }, ask) => router.hold(ask.route, ask.termMs),
  release: ({ router }, ask) => router.release(ask.route),
  remove: ({ router }, ask) => router.remove(ask.route),
  open: ({ router }, ask) => ok(router.open(ask.route, ask.incarnation)),
  drain: ({ router }, ask) => ok(router.drain(ask.route, ask.incarnation, ask.withinMs)),
  'switch-report': ({ router }, ask) => ok(router.switchReport(ask.route)),
  'expect-observation': ({ router }, ask) => router.expectObservation(ask.route, ask.nonce),
  'take-observation': ({ router }, ask) => ok(router.takeObservation(ask.nonce)),
  'observe-stream': ({ router }, ask) => router.observeStream(ask.route),
  'reload-certificates': async ({ router }) => {
    await router.reloadCertificates();
    return ok('reloaded');
  },
  metrics: ({ router }) => ok(router.metrics()),
  stop: ({ stop }) => {
    stop();
    return ok('stopping');
  },
  succeed: ({ succeed }, ask) => succeed(ask),
};

/** What changes nothing, or ends everything. */
const PASSES: ReadonlySet<Operation> = new Set(['hello', 'read', 'metrics', 'stop', 'succeed']);

/** Carries out one request; a malformed one changes nothing. */
export async function operate(context: OperationContext, op: string, ask: unknown): Promise<Outcome<unknown>> {
  if (!isOperation(op)) return refused(refusal('router-request-invalid', `The router knows no operation ${op}.`));
  const parsed = asks[op].safeParse(ask);
  if (!parsed.success) {
    return refused(refusal('router-request-invalid', `The request ${op} is not valid: ${faultsOf(parsed.error)}.`));
  }
  const handler = handlers[op] as (context: OperationContext, ask: unknown) => Promise<Outcome<unknown>>;
  return PASSES.has(op)
    ? await handler(context, parsed.data)
    : await context.gate.pass(() => handler(context, parsed.data));
}

function welcome(hello: Hello, ask: Ask<'hello'>): Outcome<Hello> {
  if (ask.fleet !== hello.fleet) {
    return refused(refusal('router-fleet-differs', `The router serves fleet ${hello.fleet}, not ${ask.fleet}.`));
  }
  if (ask.protocol !== PROTOCOL) {
    const reason = `The router speaks protocol ${PROTOCOL}, the daemon ${ask.protocol}.`;
    return refused(refusal('router-protocol-differs', reason));
  }
  return ok(hello);
}
