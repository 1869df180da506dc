import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { status } from '@idunn/client/schemas';
import { run } from './run.ts';
import { type Handler, stage } from './testing/stage.ts';

const AT = '2026-11-30T00:00:00.000Z';
const STATUS = {
  schema: 'idunn.status/v1',
  fleet: 'test',
  machine: 'local',
  directory: '/fleet',
  daemon: { version: '0.1.0', pid: 1, startedAt: AT },
  separation: 'same-user',
  faults: [],
  incidents: [],
  targets: [],
};

/** An answer that the test speaks into for as long as it likes. */
function open(): { readonly handler: Handler; readonly response: Promise<ServerResponse> } {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const handler: Handler = (_request, response) => {
    response.writeHead(200);
    response.flushHeaders();
    resolve(response);
  };
  return { handler, response: promise };
}

test('status --watch is drawn anew when something happens, and ends when the person interrupts', async (t) => {
  const events = open();
  const drawn: (() => void)[] = [];
  const answered = (): Promise<void> => new Promise((resolve) => drawn.push(resolve));
  const staged = await stage(t, {
    'GET /v1/status': ((_request, response) => {
      response.end(JSON.stringify(STATUS));
      drawn.shift()?.();
    }) satisfies Handler,
    'GET /v1/events?': events.handler,
  });
  let interrupt = (): void => undefined;
  const onInterrupt = (fire: () => void) => {
    interrupt = fire;
    return () => undefined;
  };
  const first = answered();
  const running = run(staged.environment(['status', '--watch', '--json'], { onInterrupt }));
  await first;
  const second = answered();
  const response = await events.response;
  response.write(
    `data: ${JSON.stringify({ event: 'queued', at: AT, target: 'a', transaction: 'tx-1', ahead: 0 })}\n\n`,
  );
  await second;
  interrupt();
  assert.equal(await running, 0);
  const documents = staged.out.map((line) => status.parse(JSON.parse(line)));
  assert.ok(documents.length >= 1 && documents.every(({ fleet }) => fleet === 'test'));
});

test('logs -f prints each line as it comes, as one object a line with --json', async (t) => {
  for (const [words, expected] of [
    [[], ['one\n', 'two\n']],
    [
      ['--json'],
      ['one', 'two'].map((line) => `${JSON.stringify({ schema: 'idunn.log-line/v1', target: 'ghostlight', line })}\n`),
    ],
  ] as const) {
    const log = open();
    const { environment, out } = await stage(t, { 'GET /v1/targets/ghostlight/logs/follow?lines=2': log.handler });
    const running = run(environment(['logs', 'ghostlight', '-f', '-n', '2', ...words]));
    const response = await log.response;
    response.write('one\ntw');
    response.end('o\n');
    await once(response, 'finish');
    assert.equal(await running, 0);
    assert.deepEqual(out, expected);
  }
});
