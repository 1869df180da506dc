import assert from 'node:assert/strict';
import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ghostlightRepository } from '../../scripts/lib/ghostlight-source.mjs';
import { makeFleet, refusalOf } from './lib/fleet.ts';
import { type Event, json, type VersionAnswer } from './lib/world.ts';

test('two fleets run side by side without touching one another', async (t) => {
  const [one, two] = [await makeFleet(t), await makeFleet(t)];
  await one.daemon();
  await two.daemon();
  const [first, second] = await Promise.all([one.up('ghostlight'), two.up('ghostlight')]);
  assert.equal(first.code, 0, JSON.stringify(first.outcome));
  assert.equal(second.code, 0, JSON.stringify(second.outcome));
  await json(one.url, '/events', { id: 'only-here', text: 'one' });
  assert.equal((await json<{ seq: number }>(two.url, '/head')).seq, 0);
  const before = await json<VersionAnswer>(two.url, '/version');
  await one.end();
  assert.deepEqual(await json<VersionAnswer>(two.url, '/version'), before);
  assert.equal((await two.up('ghostlight')).outcome.outcome, 'unchanged');
});

test('F20, I1: a state of another fleet is refused, and taken over whole by its owner typed out', async (t) => {
  const [old, next] = [await makeFleet(t), await makeFleet(t)];
  await old.daemon();
  assert.equal((await old.up('ghostlight')).code, 0);
  await json(old.url, '/events', { id: 'of-old', text: 'kept' });
  const before = await json<Event>(old.url, '/head');
  await old.end();

  await next.bind((text) => text.replace(`${next.work}/world`, `${old.work}/world`));
  await next.daemon();
  const foreign = await next.up('ghostlight');
  assert.deepEqual([foreign.code, refusalOf(foreign.outcome).code], [3, 'foreign-claim']);
  const wrong = await next.idunn('takeover', 'ghostlight', '--confirm', 'nobody/ghostlight');
  assert.equal(wrong.code, 3);
  assert.match(wrong.out + wrong.err, /takeover-not-confirmed/);
  const taken = await next.idunn('takeover', 'ghostlight', '--confirm', `${old.id}/ghostlight`);
  assert.equal(taken.code, 0, taken.err);
  assert.match(taken.out, /done: the state of ghostlight is taken over/);

  const admitted = await next.up('ghostlight');
  assert.equal(admitted.code, 0, JSON.stringify(admitted.outcome));
  const after = await json<Event>(next.url, '/head');
  assert.deepEqual([after.seq, after.hash], [before.seq, before.hash]);
  const written = await json<Event>(next.url, '/events', { id: 'of-next', text: 'goes on' });
  assert.deepEqual([written.seq, written.epoch > before.epoch], [before.seq + 1, true]);
});

test('whatever the umask, nothing that Idunn makes can be written by others', async (t) => {
  const fleet = await makeFleet(t);
  const before = process.umask(0);
  try {
    await fleet.daemon();
  } finally {
    process.umask(before);
  }
  assert.equal((await fleet.up('ghostlight')).code, 0);
  const root = process.geteuid?.() === 0;
  const made = ['state', 'run', 'logs', 'cache', 'releases'].map((name) => join(fleet.work, name));
  const open: string[] = [];
  for (const directory of made) {
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      // The next launch is minted meanwhile: a draft that was listed may be a file of another name by now.
      const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (found !== null && !found.isSymbolicLink() && (found.mode & 0o022) !== 0)
        open.push(`${(found.mode & 0o777).toString(8)} ${path}`);
    }
    // As root a workload's own user, or the reader, passes through to what is its own, and lists nothing.
    const passed = root && /\/(?:run|releases|cache)$/.test(directory) ? 0o011 : 0;
    assert.equal((await lstat(directory)).mode & 0o077, passed, directory);
  }
  // As root, workloads of other users say their presence there; each word is signed.
  assert.deepEqual(open, root ? [`666 ${join(fleet.runtime, 'observer/presence.sock')}`] : []);
});

test('a second daemon on the same fleet is refused', async (t) => {
  const fleet = await makeFleet(t);
  const pid = await fleet.daemon();
  const second = await fleet.idunn('daemon');
  assert.equal(second.code, 3);
  assert.match(second.err, /daemon-already-running/);
  assert.equal(await fleet.daemon(), pid, 'and a detached one is the one that runs');
});

test('a fleet file with faults keeps the daemon from starting, with every fault shown', async (t) => {
  const fleet = await makeFleet(t);
  const file = `${fleet.directory}/fleet.toml`;
  await writeFile(file, (await readFile(file, 'utf8')).replace('[ports]', 'colour = "green"\n[ports]'));
  const ran = await fleet.idunn('daemon', '--detach');
  assert.notEqual(ran.code, 0);
  assert.match(ran.err, /fleet\.toml:\d+:\d+ .*\n +\d+ \| colour = "green"/);
});

test('the quickstart’s repository is made once, and left alone when somebody works in it', async (t) => {
  const work = await mkdtemp('/tmp/ie2e-');
  t.after(() => rm(work, { recursive: true }));
  const repository = join(work, 'repo');
  const first = ghostlightRepository(repository);
  assert.equal(ghostlightRepository(repository), first, 'nothing changed, nothing is committed');
  await writeFile(join(repository, 'package.json'), '{ "mine": true }');
  assert.equal(ghostlightRepository(repository), first);
  assert.equal(await readFile(join(repository, 'package.json'), 'utf8'), '{ "mine": true }');
});
