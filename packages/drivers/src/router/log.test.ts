import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Clock } from '@idunn/kernel';
import { LIMITS } from './limits.ts';
import { fileLog } from './log.ts';

test('the log stays within its bytes, cuts a flood and says how much it cut', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'idunn-router-log-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'router.log');
  let now = 0;
  const clock: Clock = { bootId: 'boot', wallMs: () => now, monotonicMs: () => now };
  const log = fileLog(path, 4_096, clock);
  for (let line = 0; line < LIMITS.logLinesPerSecond + 7; line++) log.write('flood', { line });
  now = 1_000;
  log.write('calm');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  assert.deepEqual(JSON.parse(lines.at(-1) ?? ''), { at: '1970-01-01T00:00:01.000Z', event: 'calm', suppressed: 7 });
  for (now = 2_000; now < 200_000; now += 1_000) log.write('later', { now });
  assert.ok(statSync(path).size <= 4_096 && statSync(`${path}.1`).size <= 4_096);
  assert.match(readFileSync(path, 'utf8'), /199000/);
});
