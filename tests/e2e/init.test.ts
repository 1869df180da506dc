import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { verify } from '@idunn/client/schemas';
import { makeFleet } from './lib/fleet.ts';

test('a program is described by idunn init, and what was written deploys it', async (t) => {
  const fleet = await makeFleet(t);
  await rm(join(fleet.directory, 'bindings/ghostlight.toml'));
  await rm(join(fleet.repository, 'deployment'), { recursive: true });
  await fleet.edit('package.json', (text) => text.replace('"test": "node --test"', '"unused": ""'));

  const wrote = await fleet.idunn('init', '--repository', fleet.repository, '--json');
  assert.equal(wrote.code, 0, wrote.out + wrote.err);
  const { kind, start, doubts, faults, state, next } = JSON.parse(wrote.out) as Record<string, unknown>;
  assert.deepEqual({ kind, start, doubts, faults }, { kind: 'node', start: 'embedded', doubts: [], faults: [] });
  assert.equal(state, join(fleet.directory, 'data/ghostlight'));
  assert.equal((next as string[]).at(-1), `idunn --fleet ${fleet.directory} up ghostlight`);

  await fleet.daemon();
  const uncommitted = await fleet.idunn('plan', 'ghostlight', '--json');
  assert.equal(uncommitted.code, 3);
  assert.match(uncommitted.out, /recipe-missing/);
  await fleet.commit({}, 'Say how ghostlight is deployed');
  const { code, outcome } = await fleet.up('ghostlight');
  assert.equal(code, 0, JSON.stringify(outcome));
  const checked = await fleet.idunn('verify', 'ghostlight', '--source', '--json');
  assert.equal(verify.parse(JSON.parse(checked.out)).verdict, 'ok');
  const binding = await readFile(join(fleet.directory, 'bindings/ghostlight.toml'), 'utf8');
  const port = /port = (\d+)/.exec(binding)?.[1] ?? '';
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
});
