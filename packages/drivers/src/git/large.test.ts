import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { bench, valueOf } from './testing/bench.ts';
import { temporary } from './testing/repository.ts';

const FILES = 100_000;
const FILE_BYTES = 256 * 1_048_576;
const GROWTH_LIMIT_BYTES = 128 * 1_048_576;
/** Less than the file, for each git that has a part in it. */
const GIT_LIMIT_KIB = 240_000;

/** Runs fast-import on top of `main`. */
async function fastImport(
  directory: string,
  write: (out: (part: string | Uint8Array) => Promise<void>) => Promise<void>,
) {
  const child = spawn('/usr/bin/git', ['-C', directory, 'fast-import', '--quiet', '--force'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(child, 'close');
  await write(async (part) => {
    if (!child.stdin.write(part)) await once(child.stdin, 'drain');
  });
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
}

const HEAD =
  'commit refs/heads/main\ncommitter A <a@example.org> 1767225600 +0000\ndata 1\nx\nfrom refs/heads/main^0\n';

test(`a tree of ${FILES.toLocaleString('en')} files is staged exactly, in bounded memory`, async (context) => {
  const { repository, resolve, stage, paths } = await bench(context);
  await fastImport(repository.path, async (out) => {
    await out(HEAD);
    for (let n = 0; n < FILES; n += 1) {
      await out(`M 100644 inline many/${n % 100}/${n % 1_000}/file-${n}\ndata 8\n${String(n).padStart(8)}\n`);
    }
  });
  const before = process.memoryUsage().rss;
  const resolved = valueOf(await resolve());
  valueOf(await stage(resolved));
  assert.equal((await readdir(join(paths.tree, 'many/42/542'))).length, FILES / 1_000);
  assert.ok(process.memoryUsage().rss - before < 3 * GROWTH_LIMIT_BYTES);
});

test('a file of hundreds of megabytes is never held whole, neither here nor in git', async (context) => {
  const git = join(await temporary(context), 'small-git');
  await writeFile(git, `#!/bin/sh\nulimit -v ${GIT_LIMIT_KIB}\nexec /usr/bin/git "$@"\n`);
  await chmod(git, 0o755);
  const { repository, resolve, stage, paths } = await bench(context, 'sha1', { git });
  await repository.git('config', 'core.compression', '1');
  await repository.git('config', 'core.bigFileThreshold', '8m');
  await fastImport(repository.path, async (out) => {
    await out(`${HEAD}M 100644 inline large.bin\ndata ${FILE_BYTES}\n`);
    const zeros = Buffer.alloc(1_048_576);
    for (let at = 0; at < FILE_BYTES; at += zeros.length) await out(zeros);
    await out('\n');
  });
  let most = 0;
  const before = process.memoryUsage().rss;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss - before);
  }, 20);
  try {
    valueOf(await stage(valueOf(await resolve())));
  } finally {
    clearInterval(watching);
  }
  assert.equal((await stat(join(paths.tree, 'large.bin'))).size, FILE_BYTES);
  assert.ok(most < GROWTH_LIMIT_BYTES, `${most} bytes`);
});
