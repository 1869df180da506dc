import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemTimers } from '@idunn/kernel';
import { temporary } from '../git/testing/repository.ts';
import { BWRAP } from './testing/sandbox.ts';
import { trySandbox } from './try.ts';

const trial = { fleet: 'bench', bubblewrap: BWRAP, uid: process.getuid?.() ?? 0, timers: systemTimers };

test('a sandbox is really started, and what it can hold is found by trying', async () => {
  const tried = await trySandbox(trial);
  assert.ok(tried.ok, JSON.stringify(tried));
  assert.ok(tried.value.limits.includes('processes'));
  assert.equal(tried.value.filtered, process.arch === 'x64' || process.arch === 'arm64');
});

test('a bubblewrap that is missing, or there and unable, is refused with its own words', async (context) => {
  const missing = await trySandbox({ ...trial, bubblewrap: null });
  assert.equal(missing.ok ? '' : missing.refusal.code, 'bubblewrap-missing');
  const unable = join(await temporary(context), 'bwrap');
  await writeFile(unable, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n');
  await chmod(unable, 0o755);
  const refused = await trySandbox({ ...trial, bubblewrap: unable });
  assert.equal(refused.ok ? '' : refused.refusal.code, 'sandbox-not-makeable');
  assert.match(refused.ok ? '' : refused.refusal.reason, /No permissions to create new namespace/);
});
