import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { absent, digestBytes, seen, systemClock } from '@idunn/kernel';
import type { Lineage } from '../plan/host-facts.ts';
import { createDigestMemo } from './digest-memo.ts';
import { createHost } from './host.ts';

async function bench(context: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'idunn-host-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  const digests = createDigestMemo(systemClock());
  const host = createHost({ digests, uid: process.getuid?.() ?? 0, signer: async () => absent });
  const look = (questions: Partial<Parameters<typeof host.look>[0]>) =>
    host.look({
      target: 'app',
      interpreters: [],
      programs: [],
      secrets: [],
      directories: [],
      mounts: [],
      users: [],
      ...questions,
    });
  const lineage = async (path: string): Promise<Lineage> => {
    const answer = (await look({ directories: [path] })).directories[path];
    assert.ok(answer?.kind === 'seen', JSON.stringify(answer));
    return answer.value;
  };
  return { root, look, lineage };
}

test('F20: one directory has one identity, by whatever name it is reached', async (context) => {
  const { root, lineage } = await bench(context);
  await mkdir(join(root, 'a/b'), { recursive: true });
  await symlink(join(root, 'a'), join(root, 'alias'));
  assert.deepEqual(await lineage(join(root, 'alias')), await lineage(join(root, 'a')));
  assert.deepEqual((await lineage(join(root, 'alias/b'))).slice(1), await lineage(join(root, 'a')));
  // Also for what does not exist yet: the state root of a first deployment.
  assert.deepEqual(await lineage(join(root, 'alias/new/x')), await lineage(join(root, 'a/new/x')));
  assert.ok((await lineage(join(root, 'a/new/x'))).includes((await lineage(join(root, 'a')))[0] ?? ''));
  assert.notEqual((await lineage(join(root, 'a')))[0], (await lineage(join(root, 'a/b')))[0]);
});

test('I10: a link that leads nowhere is unknown, not a directory that could be made', async (context) => {
  const { root, look } = await bench(context);
  await symlink(join(root, 'absent'), join(root, 'dangling'));
  const path = join(root, 'dangling');
  assert.equal((await look({ directories: [path] })).directories[path]?.kind, 'unknown');
});

test('interpreters are digested through their links, programs only have to be executable', async (context) => {
  const { root, look } = await bench(context);
  const [real, link, text] = [join(root, 'real'), join(root, 'link'), join(root, 'text')];
  await writeFile(real, 'program');
  await chmod(real, 0o755);
  await symlink(real, link);
  await writeFile(text, 'text', { mode: 0o644 });
  const missing = join(root, 'missing');
  const { interpreters, programs } = await look({
    interpreters: [link, text, missing],
    programs: [real, text, root, missing],
  });
  assert.deepEqual(interpreters, { [link]: seen(digestBytes('program')), [text]: absent, [missing]: absent });
  assert.deepEqual(programs, {
    [real]: seen('executable'),
    [text]: seen('not-executable'),
    [root]: seen('not-executable'),
    [missing]: absent,
  });
});

test('a secret is a private regular file, or it is not usable', async (context) => {
  const { root, look } = await bench(context);
  const [good, open] = [join(root, 'good'), join(root, 'open')];
  await writeFile(good, 's', { mode: 0o600 });
  await writeFile(open, 's');
  await chmod(open, 0o640);
  const { secrets } = await look({ secrets: [good, open, root, join(root, 'none')] });
  assert.deepEqual(Object.values(secrets), [seen('private'), seen('readable-by-others'), seen('not-a-file'), absent]);
});
