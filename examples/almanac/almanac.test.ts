import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const DIRECTORY = fileURLToPath(new URL('.', import.meta.url));

test('almanac keeps what it acknowledged, through a kill and through a stop under load', async () => {
  const { stderr } = await run('python3', ['-B', '-m', 'unittest'], { cwd: DIRECTORY, timeout: 60_000 });
  assert.match(stderr, /Ran 4 tests[^]*\nOK\n$/);
});
