import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../../', import.meta.url));

test('the program of the guide compiles and runs', async () => {
  const guide = readFileSync(join(repository, 'docs/ladder.md'), 'utf8');
  const program = /## Building on it[^]*?```ts\n([^]*?)```/.exec(guide)?.[1] ?? '';
  const root = mkdtempSync(join(tmpdir(), 'idunn-guide-'));
  let made = root;
  try {
    symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    writeFileSync(join(root, 'guide.ts'), program);
    const compilerOptions = { composite: false, noEmit: true, declaration: false, sourceMap: false };
    const tsconfig = { extends: join(repository, 'tsconfig.base.json'), compilerOptions, files: ['guide.ts'] };
    writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(tsconfig));
    await run(process.execPath, [join(repository, 'node_modules/.bin/tsc'), '-p', root]);
    const { stdout } = await run(process.execPath, ['--conditions=source', join(root, 'guide.ts')]);
    made = stdout.trim();
    assert.equal(readFileSync(join(made, 'qa', 'apple.txt'), 'utf8'), 'golden');
  } finally {
    for (const directory of new Set([root, made])) rmSync(directory, { recursive: true });
  }
});

test('the package loads no client of a cluster, and no other package of Idunn but the kernel', async () => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import('@idunn/ladder');
    console.log(JSON.stringify(loaded));`;
  const argv = ['--conditions=source', '--input-type=module', '-e', program];
  const { stdout } = await run(process.execPath, argv, { cwd: repository, maxBuffer: 64 * 1024 * 1024 });
  const loaded = JSON.parse(stdout) as readonly string[];
  const packages = new Set(
    loaded.flatMap((url) => /\/(?:packages|node_modules)\/(?!.*\/node_modules\/)([^/]+)/.exec(url)?.[1] ?? []),
  );
  const own = ['kernel', 'ladder', 'yaml', 'zod', 'tar-stream', 'canonicalize'];
  const underTar = ['streamx', 'b4a', 'fast-fifo', 'text-decoder', 'events-universal', 'bare-fs'];
  assert.deepEqual(
    [...packages].filter((name) => ![...own, ...underTar].includes(name)),
    [],
  );
});
