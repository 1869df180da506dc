import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { run } from '../run.ts';
import { stage } from '../testing/stage.ts';

const execute = promisify(execFile);

test('bash completes commands, options, choices and the targets of the fleet', async (t) => {
  const { environment, out, fleet } = await stage(t, {});
  assert.equal(await run(environment(['completion', 'bash'])), 0);
  await writeFile(join(fleet, 'completion.bash'), out.join(''));
  await mkdir(join(fleet, 'bin'));
  await writeFile(
    join(fleet, 'bin/idunn'),
    '#!/bin/sh\n[ "$1" = __subjects ] && echo profile:all\necho ghostlight $3\n',
  );
  await chmod(join(fleet, 'bin/idunn'), 0o755);
  const complete = async (...words: string[]): Promise<string[]> => {
    const script =
      'COMP_WORDBREAKS=":="; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _idunn; ' +
      'printf "%s\\n" "${COMPREPLY[@]}"';
    const { stdout } = await execute('bash', ['-c', script, join(fleet, 'completion.bash'), 'idunn', ...words], {
      env: { PATH: `${join(fleet, 'bin')}:/usr/bin:/bin` },
    });
    return stdout.trim().split('\n');
  };
  assert.deepEqual(await complete('st'), ['status']);
  assert.deepEqual(await complete('up', 'gh'), ['ghostlight']);
  assert.deepEqual(await complete('--fleet', '/tmp', 'up', '--de'), ['--detach']);
  assert.deepEqual(await complete('completion', 'z'), ['zsh']);
  assert.deepEqual(await complete('key', 'c'), ['create']);
  assert.deepEqual(await complete('key', ''), ['list', 'show', 'create', 'authorizer']);
  assert.deepEqual(await complete('key', 'create', ''), ['ghostlight']);
  assert.deepEqual(await complete('history', ''), ['ghostlight']);
  assert.deepEqual(await complete('inspect', 'g'), ['ghostlight']);
  assert.deepEqual(
    await complete('--fleet', '/tmp', 'up', ''),
    ['profile:all', 'ghostlight', '/tmp'],
    'the targets of that fleet',
  );
  assert.deepEqual(await complete('up', 'pro'), ['profile:all']);
  assert.deepEqual(await complete('up', 'profile', ':', 'a'), ['all'], 'as the shell splits it');
  assert.deepEqual(await complete('plan', ''), ['ghostlight'], 'profiles only where one may stand');
  assert.deepEqual(await complete('up', '--timeout', '5', 'g'), ['ghostlight'], 'the value of an option is no target');
  assert.deepEqual(await complete('up', 'ghostlight', 'g'), [''], 'there is one target only');
  const flags = await complete('up', 'ghostlight', '--');
  assert.deepEqual(flags.length, new Set(flags).size, 'each option once');
});

test('zsh and fish scripts name every command', async (t) => {
  for (const shell of ['zsh', 'fish']) {
    const { environment, out } = await stage(t, {});
    assert.equal(await run(environment(['completion', shell])), 0);
    for (const command of [
      'daemon',
      'up',
      'plan',
      'status',
      'history',
      'logs',
      'inspect',
      'takeover',
      'doctor',
      'key',
      'completion',
    ]) {
      assert.ok(out.join('').includes(command), `${command} in ${shell}`);
    }
  }
});

test('targets for completion come from the binding files, without a daemon', async (t) => {
  const { environment, out, asked, fleet } = await stage(t, {});
  assert.equal(await run(environment(['__targets'])), 0);
  assert.deepEqual(out, ['ghostlight\n']);
  await appendFile(join(fleet, 'fleet.toml'), '[profiles]\nall = ["ghostlight"]\n');
  assert.equal(await run(environment(['__subjects'])), 0);
  assert.deepEqual(out.slice(1), ['profile:all\n', 'ghostlight\n']);
  assert.equal(asked.length, 0);
});
