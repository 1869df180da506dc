import assert from 'node:assert/strict';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verify } from '@idunn/client/schemas';
import { commitAll, git } from '../../scripts/lib/ghostlight-source.mjs';
import { makeFleet } from './lib/fleet.ts';

const ALMANAC = fileURLToPath(new URL('../../examples/almanac/almanac.py', import.meta.url));

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

test('a Python program that knows nothing of Idunn is described, deployed, and loses no write', async (t) => {
  const fleet = await makeFleet(t);
  const source = join(fleet.work, 'almanac');
  await mkdir(source);
  await cp(ALMANAC, join(source, 'almanac.py'));
  git(source, 'init', '--quiet', '--initial-branch=main');
  commitAll(source, 'Almanac');
  const wrote = await fleet.idunn('init', '--repository', source, '--json');
  assert.equal(wrote.code, 0, wrote.out + wrote.err);
  const { kind, start, doubts } = JSON.parse(wrote.out) as Record<string, unknown>;
  assert.deepEqual({ kind, start, doubts }, { kind: 'python', start: 'gated', doubts: [] });
  commitAll(source, 'Say how almanac is deployed');
  await fleet.daemon();
  const first = await fleet.up('almanac');
  assert.equal(first.code, 0, JSON.stringify(first.outcome));

  const binding = await readFile(join(fleet.directory, 'bindings/almanac.toml'), 'utf8');
  const url = `http://127.0.0.1:${/port = (\d+)/.exec(binding)?.[1] ?? ''}`;
  const acknowledged: string[] = [];
  const done = new AbortController();
  const writer = async (name: string): Promise<void> => {
    for (let count = 0; !done.signal.aborted; count++) {
      const id = `${name}-${count}`;
      const answer = await fetch(`${url}/entries`, { method: 'POST', body: JSON.stringify({ id, text: '' }) });
      await answer.text();
      if (answer.status === 201) acknowledged.push(id);
    }
  };
  const writers = ['a', 'b'].map(writer);
  const edited = (await readFile(join(source, 'almanac.py'), 'utf8')).replace('1.0.0', '1.1.0');
  await writeFile(join(source, 'almanac.py'), edited);
  commitAll(source, 'Another version');
  const second = await fleet.up('almanac');
  done.abort();
  await Promise.all(writers);
  assert.equal(second.code, 0, JSON.stringify(second.outcome));
  assert.equal(((await (await fetch(`${url}/version`)).json()) as { version: string }).version, '1.1.0', 'F19');
  const kept: string[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const page = (await (await fetch(`${url}/entries?limit=1000&from=${from}`)).json()) as Page;
    kept.push(...page.entries.map(({ id }) => id));
    from = page.next;
  }
  assert.ok(acknowledged.length > 20);
  assert.deepEqual(kept.toSorted(), acknowledged.toSorted(), 'nothing lost, nothing doubled');
  const checked = await fleet.idunn('verify', 'almanac', '--source', '--json');
  assert.equal(verify.parse(JSON.parse(checked.out)).verdict, 'ok', checked.out);
});

interface Page {
  readonly entries: readonly { readonly id: string }[];
  readonly next: number | null;
}
