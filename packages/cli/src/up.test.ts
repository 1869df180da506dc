import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineEvent, outcomeName } from '@idunn/client/schemas';
import { run } from './run.ts';
import { RECEIPT, stage, stream } from './testing/stage.ts';

const AT = '2026-11-30T00:00:00.000Z';
const INCARNATION = `ghostlight@sha256:${'a'.repeat(64)}`;
const REVISION = 'd'.repeat(40);

const snapshot = {
  schema: 'idunn.transaction-view/v1',
  id: 'tx-1',
  kind: 'deploy',
  target: 'ghostlight',
  actor: 'operator',
  tenant: 'local',
  phase: 'planned',
  since: AT,
  phases: [{ phase: 'planned', at: AT, tookMs: null, note: null }],
  waitingOn: null,
  incarnation: null,
  revision: null,
  freezes: [],
  result: null,
};

const where = { at: '2026-11-30T00:00:01.500Z', target: 'ghostlight', transaction: 'tx-1' };
const materialized = { ...where, event: 'phase', phase: 'materialized', tookMs: null, note: 'commit dddddddddddd' };
const waiting = {
  what: 'the freeze of ada: release day',
  since: AT,
  until: null,
  remedy: 'idunn freeze clear ghostlight',
};

const outcome = (change: object = {}): object => ({
  ...where,
  event: 'outcome',
  outcome: 'admitted',
  incarnation: INCARNATION,
  revision: REVISION,
  durationMs: 2_310,
  ownMs: 212,
  writeGapMs: 4.6,
  requests: { held: 3, failed: 0, longestHoldMs: 12 },
  refusal: null,
  ...change,
});

const EVENTS = 'GET /v1/events?transaction=tx-1';

const deploying = (...events: object[]): Record<string, unknown> => ({
  'POST /v1/commands': RECEIPT,
  [EVENTS]: stream({ event: 'snapshot', data: snapshot }, ...events.map((data) => ({ data }))),
});

test('up in plain lines ends with one sentence that says what is admitted', async (t) => {
  const { environment, out, asked } = await stage(t, deploying(materialized, outcome()));
  assert.equal(await run(environment(['up', 'ghostlight'])), 0);
  const text = out.join('');
  assert.match(text, /✔ planned +1\.50 s\n/);
  assert.match(
    text,
    new RegExp(
      "✔ admitted: ghostlight at dddddddddddd serves as aaaaaaaaaaaa after 2\\.31 s \\(212 ms of it Idunn's own, " +
        'write gap 4\\.6 ms, 3 requests held for at most 12 ms, 0 failed\\)\\.\\n$',
    ),
  );
  assert.deepEqual(asked[0]?.body, { kind: 'up', operationId: 'op-1', target: 'ghostlight', ref: null });
});

test('a gap that began long before the deployment is no gap of it', async (t) => {
  const { environment, out } = await stage(t, deploying(outcome({ writeGapMs: 3_600_000 })));
  await run(environment(['up', 'ghostlight']));
  assert.match(out.join(''), /no write gap seen/);
});

test('F2: a wait says on what, since when, until when and how to end it', async (t) => {
  const { environment, out } = await stage(t, deploying({ ...where, event: 'wait', wait: waiting }, outcome()));
  const after = (delayMs: number, fire: () => void) => (delayMs === 1_000 ? fire() : undefined, () => undefined);
  await run(environment(['up', 'ghostlight'], { after }));
  assert.match(
    out.join(''),
    /waiting on the freeze of ada: release day, since 00:00:00 UTC, without a limit; what to do: idunn freeze clear/,
  );
});

test('up --json prints documented events, the outcome last', async (t) => {
  const { environment, out } = await stage(t, deploying(materialized, outcome()));
  assert.equal(await run(environment(['up', 'ghostlight', '--json'])), 0);
  const events = out.map((line) => engineEvent.parse(JSON.parse(line)));
  assert.deepEqual(
    events.map(({ event }) => event),
    ['phase', 'phase', 'outcome'],
  );
});

test('F18: every outcome has its own exit code', async (t) => {
  const codes = {
    admitted: 0,
    unchanged: 0,
    done: 0,
    rejected: 3,
    aborted: 5,
    cancelled: 5,
    expired: 5,
    'rolled-back': 6,
    'operator-required': 1,
    waiting: 4,
  };
  for (const [name, code] of Object.entries(codes)) {
    const { environment } = await stage(t, deploying(outcome({ outcome: name })));
    assert.equal(await run(environment(['up', 'ghostlight', '--json'])), code, name);
  }
});

test('F5, F7: a failure shows its code, the last probe, the last log lines, and what to do', async (t) => {
  const refusal = {
    code: 'candidate-exited',
    reason: 'The candidate ended before it was active.',
    remedy: 'Correct the program.',
    detail: { lastProbe: { status: 301, body: 'moved\u001b[2J' }, lastPresence: null, log: ['one', 'two'] },
  };
  const { environment, out } = await stage(t, deploying(outcome({ outcome: 'aborted', refusal })));
  assert.equal(await run(environment(['up', 'ghostlight'])), 5);
  const text = out.join('');
  for (const line of [
    'candidate-exited: The candidate ended before it was active.',
    'status: 301',
    'body: moved·[2J',
    'last presence: none',
    '| two',
    'what to do: Correct the program.',
  ]) {
    assert.ok(text.includes(line), `${line} in\n${text}`);
  }
});

test('looking away stops nothing: the answer is waiting, and says how to look again', async (t) => {
  const { environment, err } = await stage(t, deploying());
  const interrupted = environment(['up', 'ghostlight'], {
    onInterrupt: (fire) => {
      setImmediate(fire);
      return () => undefined;
    },
  });
  assert.equal(await run(interrupted), 4);
  assert.match(err.join(''), /nothing was stopped.*tx-1\.\n.*idunn up ghostlight --operation-id op-1/);
});

test('the live view draws the running phase in place and leaves the done ones', async (t) => {
  const { environment, out } = await stage(t, deploying(materialized, outcome()));
  const live = environment(['up', 'ghostlight']);
  const terminal = {
    ...live,
    out: { ...live.out, terminal: true },
    variable: (name: string) => ({ LANG: 'C.UTF-8', NO_COLOR: '1' })[name],
  };
  assert.equal(await run(terminal), 0);
  const text = out.join('');
  assert.ok(text.includes('\u001b[1A\u001b[J'), 'what is at work is erased before it is drawn again');
  assert.match(text, /✔ planned +1\.50 s/);
  assert.ok(!text.includes('\u001b[36m'), 'NO_COLOR is respected');
});

test('a profile runs each of its targets; one that is not there is refused with those that are', async (t) => {
  const fleet = {
    schema: 'idunn.fleet-view/v1',
    fleet: 'test',
    machine: 'local',
    directory: '/',
    targets: ['ghostlight'],
    profiles: { all: ['ghostlight'] },
    faults: [],
  };
  const { environment, asked, err } = await stage(t, { ...deploying(outcome()), 'GET /v1/fleet': fleet });
  assert.equal(await run(environment(['up', 'profile:all', '--json'])), 0);
  assert.deepEqual(asked[1]?.body, { kind: 'up', operationId: 'op-1:ghostlight', target: 'ghostlight', ref: null });
  assert.equal(await run(environment(['up', 'profile:al'])), 3);
  assert.match(err.join(''), /Did you mean profile:all\?/);
});

test('a phase that turned back is not shown as reached', async (t) => {
  const turned = [
    { ...where, event: 'phase', phase: 'planned', tookMs: 3, note: null },
    { ...where, event: 'phase', phase: 'sealed', tookMs: null, note: null },
    { ...where, event: 'phase', phase: 'sealed', tookMs: 148, note: null },
    { ...where, event: 'phase', phase: 'aborting', tookMs: null, note: 'step-failed' },
  ];
  const refusal = { code: 'step-failed', reason: 'It ended with exit status 1.', remedy: 'Correct it.' };
  const failed = outcome({ outcome: 'aborted', incarnation: null, refusal });
  const { environment, out } = await stage(t, deploying(...turned, failed));
  assert.equal(await run(environment(['up', 'ghostlight'])), 5);
  const text = out.join('');
  assert.match(text, /✔ planned.*\n.*✖ sealed +148 ms\n.*✖ aborting/);
  assert.match(text, /nothing of it is admitted/, 'there was no incumbent that could be left alone');
});

test('F18: a first deployment that went back is not said to serve anything', async (t) => {
  const { environment, out } = await stage(t, deploying(outcome({ outcome: 'rolled-back', incarnation: null })));
  assert.equal(await run(environment(['up', 'ghostlight'])), 6);
  assert.match(out.join(''), /rolled-back: nothing of ghostlight is admitted/);
});

test('between two phases the live view goes on showing the one before, never that it is queued', async (t) => {
  const done = { ...where, event: 'phase', phase: 'planned', tookMs: 3, note: null };
  const { environment, out } = await stage(t, deploying(done, materialized, outcome()));
  const live = environment(['up', 'ghostlight']);
  await run({ ...live, out: { ...live.out, terminal: true }, variable: (name) => (name === 'LANG' ? 'C.UTF-8' : '1') });
  const afterFirst = out.join('').split('planned').slice(1).join('');
  assert.ok(!afterFirst.includes('queued'));
});

test('takeover needs a name typed out when nobody can be asked', async (t) => {
  const { environment, asked } = await stage(t, deploying(outcome()));
  assert.equal(await run(environment(['takeover', 'ghostlight'])), 2);
  assert.equal(asked.length, 0);
  assert.equal(await run(environment(['takeover', 'ghostlight', '--confirm', 'old/ghostlight', '--json'])), 0);
  assert.deepEqual(asked[0]?.body, {
    kind: 'takeover',
    operationId: 'op-1',
    target: 'ghostlight',
    confirm: 'old/ghostlight',
  });
  assert.equal(await run(environment(['takeover', 'ghostlight', '--confirm', 'act-4f9c0a', '--json'])), 0);
  const typed = asked.flatMap(({ body }) => (body as { confirm?: string } | null)?.confirm ?? []);
  assert.deepEqual(typed, ['old/ghostlight', 'act-4f9c0a']);
});

test('takeover says whom it sets aside and what ends, before it asks for the name', async (t) => {
  const { environment, asked } = await stage(t, deploying(outcome({ outcome: 'done' })));
  const questions: string[] = [];
  const ask = async (question: string): Promise<string> => {
    questions.push(question);
    return ' act-4f9c0a ';
  };
  assert.equal(await run({ ...environment(['takeover', 'ghostlight']), ask }), 0);
  assert.match(questions.join(''), /no record knows: its processes on this machine are ended/);
  assert.deepEqual(asked[0]?.body, {
    kind: 'takeover',
    operationId: 'op-1',
    target: 'ghostlight',
    confirm: 'act-4f9c0a',
  });
});

test('every outcome ends in a sentence of its own', async (t) => {
  const sentences = new Set<string>();
  for (const name of outcomeName.options) {
    const { environment, out } = await stage(t, deploying(outcome({ outcome: name })));
    await run(environment(['takeover', 'ghostlight', '--confirm', 'old/ghostlight']));
    const last = out.join('').trimEnd().split('\n').at(-1) ?? '';
    assert.match(last, new RegExp(`${name}: .*ghostlight`));
    sentences.add(last);
  }
  assert.equal(sentences.size, outcomeName.options.length);
});
