import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FileTrail, openFileTrail } from './file-trail.ts';
import type { AuditDraft } from './port.ts';

let directory: string;
let file: string;
let trail: FileTrail;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'idunn-audit-'));
  file = join(directory, 'audit.log');
  trail = openFileTrail(file);
});
afterEach(() => {
  trail.close();
  rmSync(directory, { recursive: true });
});

const draft = (what: string): AuditDraft => ({
  actor: 'ada',
  tenant: 'local',
  from: 'test',
  atMs: 1,
  kind: 'operation',
  what,
  target: 'qa',
  outcome: 'done',
  detail: {},
});

const lines = (): readonly string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

test('each line links to the one before it, over closing and opening again', async () => {
  for (const what of ['a', 'b']) assert.ok((await trail.append(draft(what))).ok);
  trail.close();
  trail = openFileTrail(file);
  const third = await trail.append(draft('c'));
  assert.ok(third.ok);
  const verdict = await trail.verify();
  assert.deepEqual(verdict, { kind: 'whole', head: { sequence: 3, digest: third.value.digest }, recovered: 0 });
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a changed, a removed, a moved and an inserted line are seen, and where', async () => {
  for (const what of ['a', 'b', 'c', 'd']) await trail.append(draft(what));
  const [a = '', b = '', c = '', d = ''] = lines();
  const forgeries: readonly (readonly [readonly string[], number])[] = [
    [[a, b.replace('"ada"', '"eve"'), c, d], 3],
    [[a, c, d], 2],
    [[a, c, b, d], 2],
    [[a, b, b, c, d], 3],
    [[a, b, c, '{}', d], 5],
    [[b, c, d], 1],
  ];
  for (const [forged, line] of forgeries) {
    writeFileSync(file, `${forged.join('\n')}\n`);
    const verdict = await trail.verify();
    assert.deepEqual([verdict.kind, verdict.kind === 'broken' && verdict.line], ['broken', line]);
  }
});

test('F27: a line that a crash cut short, anywhere, is told by the next one and the chain goes on', async () => {
  await trail.append(draft('a'));
  const whole = statSync(file).size;
  await trail.append(draft('b'));
  // The last lacks nothing but its line end, so it is whole.
  const cuts = [
    [whole + 1, 1],
    [whole + 40, 1],
    [statSync(file).size - 1, 0],
  ] as const;
  const both = readFileSync(file);
  for (const [size, recovered] of cuts) {
    writeFileSync(file, both);
    truncateSync(file, size);
    assert.ok((await trail.append(draft('c'))).ok);
    const verdict = await trail.verify();
    assert.deepEqual([verdict.kind, verdict.kind === 'whole' && verdict.recovered], ['whole', recovered]);
  }
  // The recovery itself is cut short: both pieces are told by the one after.
  truncateSync(file, statSync(file).size - 600);
  assert.ok((await trail.append(draft('d'))).ok);
  assert.equal((await trail.verify()).kind, 'whole');
});

test('separators that only look like line ends keep a line whole', async () => {
  await trail.append({ ...draft('a\u2028b'), detail: { text: 'c\u2029d\r\n' } });
  assert.deepEqual([(await trail.verify()).kind, lines().length], ['whole', 1]);
});

test('a first line that was cut short is told too', async () => {
  writeFileSync(file, '{"schema":');
  assert.ok((await trail.append(draft('a'))).ok);
  assert.deepEqual([(await trail.verify()).kind, lines().length], ['whole', 3]);
});

test('F28: what cannot be written is refused and the file stays as it was', async () => {
  await trail.append(draft('a'));
  const before = readFileSync(file);
  const long = await trail.append({ ...draft('b'), detail: { text: 'x'.repeat(70_000) } });
  assert.ok(!long.ok && long.refusal.code === 'audit-unwritable');
  assert.deepEqual(readFileSync(file), before);
  appendFileSync(file, `${'x'.repeat(300_000)}\n`);
  const broken = await trail.append(draft('c'));
  assert.ok(!broken.ok && broken.refusal.code === 'audit-broken');
});

test('several processes append to one log without a break', async () => {
  const program = fileURLToPath(new URL('./testing/appender.ts', import.meta.url));
  const run = (name: string) =>
    promisify(execFile)(process.execPath, ['--conditions=source', program, file, name, '20']);
  await Promise.all(['p', 'q', 'r'].map(run));
  const verdict = await trail.verify();
  assert.deepEqual([verdict.kind, verdict.kind === 'whole' && verdict.head.sequence], ['whole', 60]);
});
