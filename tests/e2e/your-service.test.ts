import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endFleet } from '../../scripts/lib/end-fleet.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const IDUNN = join(ROOT, 'packages/cli/bin/idunn.mjs');
const NODE = join(ROOT, 'node_modules/.bin/node');
const IDENTITY = ['-c', 'user.name=Reader', '-c', 'user.email=reader@example.org'];

/** A block of the page: a file with its name, or commands with what they end with. */
type Block =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'command'; readonly words: readonly string[]; readonly code: number };

function blocksOf(page: string): Block[] {
  return [...page.matchAll(/```(\w+)(?: (\S+))?\n([^]*?)```/g)].flatMap(([, language, name, text = '']): Block[] => {
    if (name !== undefined) return [{ kind: 'file', name, text }];
    if (language !== 'console') return [];
    return [...text.matchAll(/^\$ (.+?)(?: ! (\d))?$/gm)].map(([, command = '', code = '0']) => ({
      kind: 'command',
      words: [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
      code: Number(code),
    }));
  });
}

function run(directory: string, words: readonly string[]): Promise<{ code: number; said: string }> {
  const [program, ...rest] = words;
  const argv = program === 'idunn' ? [NODE, IDUNN, ...rest] : ['git', ...IDENTITY, ...rest];
  const env = { PATH: `${join(ROOT, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: directory };
  return new Promise((resolve) => {
    execFile(argv[0] ?? '', argv.slice(1), { cwd: directory, env, encoding: 'utf8' }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: out + err }),
    );
  });
}

test('the page "Your own service in ten minutes" does what it says, step by step', async (t) => {
  const work = await mkdtemp('/tmp/ie2e-');
  const source = join(work, 'notes');
  const fleet = join(work, 'fleet');
  await mkdir(source);
  t.after(async () => {
    await endFleet({ fleet, runtime: join(fleet, 'run'), graceMs: 5_000 });
    execFileSync('chmod', ['-R', 'u+w', work]);
    await rm(work, { recursive: true, force: true });
  });
  const blocks = blocksOf(await readFile(join(ROOT, 'docs/your-service.md'), 'utf8'));
  assert.ok(blocks.filter(({ kind }) => kind === 'command').length > 12);
  const served = async (init?: RequestInit) => (await fetch('http://127.0.0.1:8100/', init)).text();
  let told = 0;
  for (const block of blocks) {
    if (block.kind === 'file') {
      // The mistake goes where the page says: into the first line of the program.
      const name = block.name === 'broken.js' ? 'notes.js' : block.name;
      const before = block.name === 'broken.js' ? await readFile(join(source, name), 'utf8') : '';
      await writeFile(join(source, name), block.text + before);
      continue;
    }
    const { code, said } = await run(source, block.words);
    assert.equal(code, block.code, `${block.words.join(' ')}\n${said}`);
    if (!block.words.includes('up')) continue;
    await served({ method: 'POST', body: `note ${(told += 1)}` });
    if (code === 5) assert.match(said, /a mistake/, 'F7: the log comes with the refusal');
  }
  const notes = JSON.parse(await served()) as { text: string }[];
  assert.deepEqual(
    notes.map(({ text }) => text),
    ['note 1', 'note 2', 'note 3'],
    'nothing was lost or doubled, through the broken build too',
  );
});
