import assert from 'node:assert/strict';
import { chmod, copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect, verify } from '@idunn/client/schemas';
import { type Fleet, makeFleet } from './lib/fleet.ts';

/** Each check that is not ok, as `check verdict`, with the exit code in front. */
async function verified(fleet: Fleet, ...words: string[]): Promise<(string | number)[]> {
  const { code, out } = await fleet.idunn('verify', 'ghostlight', '--json', ...words);
  const { checks } = verify.parse(JSON.parse(out));
  return [code, ...checks.filter(({ verdict }) => verdict !== 'ok').map(({ check, verdict }) => `${check} ${verdict}`)];
}

async function rewrite(file: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  await chmod(file, 0o644);
  await writeFile(file, change(await readFile(file)));
  await chmod(file, 0o444);
}

test('I2: inspect shows and verify re-checks a live target, from the commit to the running process', async (t) => {
  const fleet = await makeFleet(t);
  const interpreter = join(fleet.work, 'node');
  const binding = await readFile(join(fleet.directory, 'bindings/ghostlight.toml'), 'utf8');
  const [line = '', node = ''] = /\[interpreter\.node\]\npath = "([^"]+)"/.exec(binding) ?? [];
  await copyFile(node, interpreter);
  await fleet.bind((text) => text.replace(line, line.replace(node, interpreter)));
  await fleet.daemon();
  assert.equal((await fleet.idunn('verify', 'ghostlight')).code, 3, 'nothing is admitted yet');
  const { code, outcome } = await fleet.up('ghostlight');
  assert.equal(code, 0, JSON.stringify(outcome));
  assert.deepEqual(await verified(fleet, '--source'), [0]);

  const page = (await fleet.idunn('inspect', 'ghostlight')).out;
  for (const line of [
    new RegExp(`commit +${outcome.revision ?? ''}`),
    /tree +[0-9a-f]{40}/,
    /build +assemble: node build\.mjs/,
    /artifact +server {2}sha256:[0-9a-f]{64} {2}directory, \d+ files/,
    /provenance +sha256:[0-9a-f]{64}, signed by the builder/,
    /executable +sha256:[0-9a-f]{64} {2}\S+ as sealed/,
    /entry +sha256:[0-9a-f]{64} {2}\S+ as sealed/,
  ]) {
    assert.match(page, line);
  }
  const { dossier } = inspect.parse(JSON.parse((await fleet.idunn('inspect', 'ghostlight', '--json')).out));
  assert.ok(dossier);
  const byRelease = (await fleet.idunn('inspect', dossier.release.release)).out;
  assert.match(byRelease, /^release sha256:/);
  assert.match((await fleet.idunn('inspect', dossier.transaction)).out, /what +deploy of ghostlight, by operator/);

  const file = join(dossier.directory, 'server/src/journal.js');
  const before = await readFile(file);
  await rewrite(file, (bytes) => Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 1]), bytes.subarray(1)]));
  assert.deepEqual(await verified(fleet), [1, 'artifact server differs'], 'a flipped byte');
  await rewrite(file, () => before);
  assert.deepEqual(await verified(fleet), [0]);

  await copyFile(interpreter, `${interpreter}.new`);
  await rename(interpreter, `${interpreter}.old`);
  await writeFile(`${interpreter}.new`, 'x', { flag: 'a' });
  await rename(`${interpreter}.new`, interpreter);
  assert.deepEqual(await verified(fleet), [1, 'interpreter differs'], 'what runs is still the sealed one');
  await rename(`${interpreter}.old`, interpreter);

  const provenance = join(dossier.directory, 'provenance.json');
  await rewrite(provenance, (bytes) => {
    const envelope = JSON.parse(bytes.toString()) as { signatures: { sig: string }[] };
    const forged = {
      ...envelope,
      signatures: [{ ...envelope.signatures[0], sig: Buffer.alloc(64).toString('base64') }],
    };
    return Buffer.from(JSON.stringify(forged));
  });
  assert.deepEqual(await verified(fleet), [1, 'provenance differs', 'provenance signature differs']);
});
