import assert from 'node:assert/strict';
import { test } from 'node:test';
import { good } from './model/reading.ts';
import { ownStartTime, Stage } from './testing/subjects.ts';

test('a program is active from the first verdict, and is looked at soon again while it starts', async (t) => {
  const stage = new Stage(t);
  stage.goesBad('GET /: ECONNREFUSED');
  stage.subject.begin(0);
  await stage.pass(300);
  assert.equal(stage.states, '', 'nothing is signed for what was never good');
  assert.ok(stage.probes >= 5, `${stage.probes} probes in 300 ms`);
  stage.finds = good('GET / answered 200');
  await stage.pass(300);
  assert.equal(stage.states, 'active');
  const { probes } = stage;
  await stage.pass(1_000);
  assert.equal(stage.probes, probes + 1, 'then once in its interval');
});

test('I5, I7: what answers on its port and is none of it never makes it active, and is named', async (t) => {
  const stage = new Stage(t);
  stage.listener = { kind: 'other', who: 'process 7, which is none of it' };
  stage.subject.begin(0);
  await stage.pass(2_000);
  assert.equal(stage.states, '');
  const said = 'GET / answered 200, and port 21999 belongs to process 7, which is none of it';
  assert.equal(stage.subject.view().reading?.said, said);
  stage.listener = { kind: 'own' };
  await stage.pass(2_000);
  assert.equal(stage.states.split(' ')[0], 'active');
});

test('F5, F11: one bad reading changes nothing; the verdict names how many it rests on, and the last', async (t) => {
  const stage = new Stage(t);
  stage.subject.begin(0);
  await stage.pass(100);
  stage.goesBad();
  await stage.pass(1_000);
  assert.equal(stage.states, 'active');
  await stage.pass(2_000);
  assert.equal(stage.states, 'active degraded');
  assert.equal(stage.said.at(-1)?.detail, 'bad 3 times in a row, the last: GET / answered 503: no database');
  assert.deepEqual(stage.verdicts, ['good', 'bad']);
  stage.finds = good('GET / answered 200');
  await stage.pass(1_000);
  assert.equal(stage.states, 'active degraded active');
});

test('a program that hangs lets its presence lapse: nothing is repeated without a new good reading', async (t) => {
  const stage = new Stage(t, { presenceEveryMs: 2_000, contract: { failures: 100 } });
  stage.subject.begin(0);
  await stage.pass(10_000);
  const often = stage.said.length;
  assert.ok(often >= 5 && often <= 11, `${often} presences in 10 s`);
  const gaps = stage.said.slice(1).map(({ atMs }, index) => atMs - (stage.said[index]?.atMs ?? 0));
  assert.ok(Math.max(...gaps) <= 2_000, `the longest silence was ${Math.max(...gaps)} ms`);
  stage.goesBad();
  await stage.pass(10_000);
  assert.equal(stage.said.length, often);
});

test('what it is still is repeated at moments that all programs share, and never later than it must be', async (t) => {
  const stage = new Stage(t, { presenceEveryMs: 60_000, contract: { intervalMs: 700 } });
  stage.subject.begin(345);
  await stage.pass(300_000, 50);
  const [first, ...repeats] = stage.said.map(({ atMs }) => atMs);
  assert.ok(repeats.length >= 4, `${repeats.length} repeats in five minutes`);
  assert.deepEqual(
    repeats.map((atMs) => atMs % 5_000),
    repeats.map(() => 0),
  );
  const gaps = repeats.map((atMs, index) => atMs - (index === 0 ? (first ?? 0) : (repeats[index - 1] ?? 0)));
  assert.ok(Math.max(...gaps) <= 60_000, `the longest silence was ${Math.max(...gaps)} ms`);
});

test('a repeat that waits for its moment is not said of what went bad meanwhile', async (t) => {
  const stage = new Stage(t, { presenceEveryMs: 60_000, contract: { intervalMs: 1_000, failures: 1 } });
  stage.subject.begin(0);
  await stage.pass(56_000, 50);
  assert.equal(stage.states, 'active');
  stage.goesBad();
  await stage.pass(20_000, 50);
  assert.equal(stage.states, 'active degraded');
});

test('I5: sequences rise over a restart, without anything that was kept', async (t) => {
  const first = new Stage(t, { presenceEveryMs: 10 });
  first.subject.begin(0);
  await first.pass(5_000);
  first.subject.stop();
  const second = new Stage(t, { presenceEveryMs: 10, record: { verdict: 'good' } });
  second.machine.now = first.machine.now;
  second.subject.begin(0);
  await second.pass(5_000);
  const sequences = [...first.said, ...second.said].map(({ sequence }) => sequence);
  assert.ok(sequences.length > 8);
  assert.ok(sequences.every((sequence, index) => index === 0 || sequence > (sequences[index - 1] ?? 0)));
});

test('a restart keeps the verdict and rests it on a new reading before anything is said', async (t) => {
  const stage = new Stage(t, { contract: { successes: 50 }, record: { verdict: 'good' } });
  stage.goesBad();
  stage.subject.begin(0);
  await stage.pass(500);
  assert.equal(stage.states, '', 'active is not said on a bad reading');
  stage.finds = good('GET / answered 200');
  await stage.pass(1_000);
  assert.equal(stage.states, 'active');
});

test('I1, I3: with state it warms unprobed until the grant, and is active under its epoch only', async (t) => {
  const stage = new Stage(t, { stateful: true });
  stage.subject.begin(0);
  await stage.pass(2_000);
  assert.deepEqual([stage.states, stage.probes], ['warming', 0]);
  assert.equal(stage.subject.grant(7), 'granted');
  await stage.pass(100);
  assert.equal(stage.states, 'warming warming@7 active@7');
  assert.equal(stage.subject.grant(7), 'granted');
  assert.equal(stage.subject.grant(6), 'outdated');
  assert.equal(stage.subject.record.epoch, 7);
});

test('F12: nothing is signed for a process that is gone, whoever answers in its place', async (t) => {
  const stage = new Stage(t, { record: { startTime: String(BigInt(ownStartTime()) + 1n) } });
  stage.subject.begin(0);
  await stage.pass(100);
  assert.deepEqual([stage.states, stage.probes], ['', 0]);
  assert.ok(stage.gone > 0);
});

test('F30: a secret that a program answers with is shown nowhere', async (t) => {
  const stage = new Stage(t, { secrets: { token: 'hunter2-and-more\n' } });
  stage.subject.begin(0);
  await stage.pass(100);
  stage.goesBad('GET /?key=hunter2-and-more answered 500', `${'x'.repeat(190)} hunter2-and-more`);
  await stage.pass(3_000);
  const shown = JSON.stringify([stage.subject.view(), stage.said]);
  assert.ok(!shown.includes('hunter2') && shown.includes('[secret token]'), shown);
  assert.equal(stage.subject.view().reading?.body?.length, 200);
});
