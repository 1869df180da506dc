import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

/** An act that fails as soon as the first of its parts is ended, as one does whose daemon is gone. */
const SCOPE = `
import { setTimeout as pause } from 'node:timers/promises';
import { withScope } from ${JSON.stringify(new URL('stage.ts', import.meta.url).href)};
await withScope(async (scope) => {
  const { promise, reject } = Promise.withResolvers();
  scope.after(async () => { await pause(20); console.log('first'); });
  scope.after(async () => { reject(new Error('its part is gone')); await pause(20); console.log('second'); });
  setInterval(() => undefined, 1_000);
  console.log('begun');
  await promise;
});
`;

test('who is told to end ends all that it started, the newest first, whatever fails meanwhile', async () => {
  const words = ['--conditions=source', '--input-type=module', '--eval', SCOPE];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.once('data', () => child.kill('SIGTERM'));
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.deepEqual([said, code], ['begun\nsecond\nfirst\n', 1]);
});
