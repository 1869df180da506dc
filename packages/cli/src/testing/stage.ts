import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Environment } from '../edge/environment.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** One answer for each `METHOD path`; what is not there is refused. */
export type Answers = Readonly<Record<string, unknown>>;

export interface Stage {
  readonly fleet: string;
  /** Words on standard output and standard error. */
  readonly out: string[];
  readonly err: string[];
  /** What was asked, as `METHOD path`, with the body. */
  readonly asked: { readonly what: string; readonly body: unknown }[];
  readonly environment: (argv: readonly string[], change?: Partial<Environment>) => Environment;
}

/** A fleet directory whose operator socket answers what the test says. */
export async function stage(t: TestContext, answers: Answers): Promise<Stage> {
  const fleet = await mkdtemp(join(tmpdir(), 'idunn-cli-'));
  await mkdir(join(fleet, 'bindings'));
  await mkdir(join(fleet, 'run'));
  await writeFile(join(fleet, 'bindings/ghostlight.toml'), '');
  const directories = ['state', 'runtime', 'releases', 'logs', 'cache'];
  const lines = directories.map((name) => `${name} = "${name === 'runtime' ? 'run' : name}"`);
  await writeFile(join(fleet, 'fleet.toml'), `id = "test"\n[directories]\n${lines.join('\n')}\n`);
  const asked: Stage['asked'] = [];
  const server = createServer((request, response) => void serve(request, response, answers, asked));
  await new Promise<void>((resolve) => server.listen(join(fleet, 'run/operator.sock'), resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(fleet, { recursive: true });
  });
  const out: string[] = [];
  const err: string[] = [];
  return {
    fleet,
    out,
    err,
    asked,
    environment: (argv, change = {}) => ({
      argv: [...argv, '--fleet', fleet],
      directory: fleet,
      home: fleet,
      user: { name: 'ada', uid: process.geteuid?.() ?? 0 },
      root: false,
      variable: () => undefined,
      out: { write: (text) => void out.push(text), terminal: false, columns: 200 },
      err: { write: (text) => void err.push(text), terminal: false, columns: 200 },
      nowMs: () => Date.parse('2026-11-30T00:01:00.000Z'),
      every: () => () => undefined,
      after: () => () => undefined,
      onInterrupt: () => () => undefined,
      endInterrupted: () => undefined,
      freshId: (prefix) => `${prefix}-1`,
      ask: () => Promise.resolve(null),
      ...change,
    }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answers: Answers,
  asked: Stage['asked'],
): Promise<void> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request as AsyncIterable<string>) text += chunk;
  const what = `${request.method} ${request.url}`;
  asked.push({ what, body: text === '' ? null : (JSON.parse(text) as unknown) });
  response.setHeader('idunn-api', '1');
  const answer = answers[what];
  if (typeof answer === 'function') return (answer as Handler)(request, response);
  if (answer === undefined) {
    response.statusCode = 422;
    const refusal = { code: 'subject-unknown', reason: `the stage has no ${what}`, remedy: 'Add it.' };
    response.end(JSON.stringify({ schema: 'idunn.refusal/v1', refusal }));
    return;
  }
  response.end(JSON.stringify(answer));
}

/** An event stream with these messages, left open. */
export const stream =
  (...messages: readonly { event?: string; data: unknown }[]): Handler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, data } of messages) {
      response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
    }
  };

export const refuseWith =
  (refusal: unknown): Handler =>
  (_request, response) => {
    response.statusCode = 422;
    response.end(JSON.stringify({ schema: 'idunn.refusal/v1', refusal }));
  };

/** What an `up` of ghostlight is taken in with. */
export const RECEIPT = {
  schema: 'idunn.operation-receipt/v1',
  operationId: 'op-1',
  target: 'ghostlight',
  kind: 'up',
  transaction: 'tx-1',
  ahead: [],
  repeated: false,
  stateVersion: 1,
};
