import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitAll, git } from '../../scripts/lib/ghostlight-source.mjs';
import { makeFleet } from './lib/fleet.ts';

test('a site of files is described by idunn init, served, and changed without a failed request', async (t) => {
  const fleet = await makeFleet(t);
  const source = join(fleet.work, 'site');
  await mkdir(join(source, 'public'), { recursive: true });
  git(source, 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(source, 'public/index.html'), '<p>one');
  commitAll(source, 'The site');
  const wrote = await fleet.idunn('init', '--repository', source, '--json');
  assert.equal(wrote.code, 0, wrote.out + wrote.err);
  const { kind, start, target } = JSON.parse(wrote.out) as Record<string, unknown>;
  assert.deepEqual({ kind, start, target }, { kind: 'static', start: 'overlapping', target: 'site' });
  commitAll(source, 'Say how the site is deployed');
  await fleet.daemon();
  const first = await fleet.up('site');
  assert.equal(first.code, 0, JSON.stringify(first.outcome));

  const binding = await readFile(join(fleet.directory, 'bindings/site.toml'), 'utf8');
  const url = `http://127.0.0.1:${/port = (\d+)/.exec(binding)?.[1] ?? ''}/`;
  const seen = new Set<string>();
  const done = new AbortController();
  const reader = (async () => {
    while (!done.signal.aborted) {
      const answer = await fetch(url);
      seen.add(`${answer.status} ${await answer.text()}`);
    }
  })();
  await writeFile(join(source, 'public/index.html'), '<p>two');
  commitAll(source, 'Another page');
  const second = await fleet.up('site');
  done.abort();
  await reader;
  assert.equal(second.code, 0, JSON.stringify(second.outcome));
  assert.deepEqual([...seen].toSorted(), ['200 <p>one', '200 <p>two']);
});
