import { appendFile, chmod, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostileCase } from './case.ts';
import { type Entry, plainGit, Quarry } from './quarry.ts';
import { TOKEN } from './yard.ts';

/** Both halves of a case, each in a repository of its own that `plant` made hostile. */
interface Attack {
  readonly name: string;
  readonly plant: (quarry: Quarry) => Promise<unknown>;
  /** Reads it through Idunn where something else than the plain reading is tried; answers the refusal. */
  readonly read?: (quarry: Quarry) => Promise<string | null>;
  /** Whether it got through, seen from what was staged or was run. */
  readonly escaped: (quarry: Quarry) => Promise<boolean>;
  /** The same with a plain git. */
  readonly control: (quarry: Quarry) => Promise<boolean>;
}

const caseOf = ({ name, plant, read, escaped, control }: Attack): HostileCase => {
  const within = async <T>(work: (quarry: Quarry) => Promise<T>): Promise<T> => {
    const quarry = await Quarry.open();
    try {
      await plant(quarry);
      return await work(quarry);
    } finally {
      await quarry.close();
    }
  };
  return {
    name,
    attempt: () =>
      within(async (quarry) => {
        const refusal = await (read?.(quarry) ?? quarry.read());
        return { escaped: await escaped(quarry), refusal };
      }),
    control: () => within(async (quarry) => ({ succeeded: await control(quarry) })),
  };
};

const inStage = (path: string) => async (quarry: Quarry) => (await quarry.text(quarry.stage, path)) !== '';
const inClone = (path: string) => async (quarry: Quarry) => (await quarry.text(await quarry.clone(), path)) !== '';

/** A link that leads to the secret. */
const link = (name: string, path: string, plant: (quarry: Quarry) => Promise<readonly Entry[]>): Attack => ({
  name,
  plant: async (quarry) => quarry.plant(...(await plant(quarry))),
  escaped: async (quarry) => (await quarry.text(quarry.stage, path)).includes(TOKEN),
  control: async (quarry) => (await quarry.text(await quarry.clone(), path)).includes(TOKEN),
});

/** A name in the tree that is written where plain git is used. */
const named = (name: string, path: string, shown: string, off: readonly string[] = []): Attack => ({
  name,
  plant: async (quarry) => quarry.plant(['100644', path, await quarry.raw('blob', TOKEN)]),
  escaped: inStage(shown),
  control: async (quarry) => (await quarry.text(await quarry.clone(...off), shown)).includes(TOKEN),
});

/** Something whose id plain git takes for a tree, and nothing on a disk can have. */
const forgiven = (name: string, entries: (blob: string) => readonly Entry[]): Attack => ({
  name,
  plant: async (quarry) => quarry.plant(...entries(await quarry.raw('blob', TOKEN))),
  escaped: inStage('zz'),
  control: inClone('zz'),
});

/** A history that is made to look as if it came from the minimum revision. */
const forged = (name: string, forge: (quarry: Quarry, unrelated: string) => Promise<unknown>): Attack => ({
  name,
  async plant(quarry) {
    const tree = await quarry.git('rev-parse', 'HEAD^{tree}');
    const unrelated = await quarry.git('commit-tree', tree, '-m', 'unrelated');
    await quarry.git('update-ref', 'refs/heads/main', unrelated);
    await forge(quarry, unrelated);
  },
  escaped: inStage('recipe.toml'),
  control: (quarry) =>
    quarry.git('merge-base', '--is-ancestor', quarry.first, 'refs/heads/main').then(
      () => true,
      () => false,
    ),
});

const PROTECTION_OFF = ['-c', 'core.protectHFS=false', '-c', 'core.protectNTFS=false'];
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 9\n`;

/** What only root can read comes with the objects of a repository that everybody can. */
const borrowed: Attack = {
  name: 'objects are borrowed from where only root can go',
  async plant(quarry) {
    const hidden = join(quarry.root, 'hidden/app');
    await cp(quarry.origin, hidden, { recursive: true });
    await writeFile(join(hidden, 'zz'), TOKEN);
    await plainGit(['-C', hidden, 'add', '--all']);
    await plainGit(['-C', hidden, 'commit', '--quiet', '--message', 'hidden']);
    await writeFile(join(quarry.origin, '.git/objects/info/alternates'), `${hidden}/.git/objects\n`);
    await quarry.git('update-ref', 'refs/heads/main', await plainGit(['-C', hidden, 'rev-parse', 'HEAD']));
    await chmod(join(quarry.root, 'hidden'), 0o700);
  },
  escaped: inStage('zz'),
  control: inClone('zz'),
};

const attacks: readonly Attack[] = [
  link('a link leads out of the tree by an absolute path', 'way', async (quarry) => [
    ['120000', 'way', await quarry.raw('blob', quarry.secret)],
  ]),
  link('a link leads out of the tree by ..', 'way', async (quarry) => [
    ['120000', 'way', await quarry.raw('blob', '../outside/secret')],
  ]),
  link('a link leads out of the tree through another link', 'way', async (quarry) => {
    const up = await quarry.tree(['120000', 'up', await quarry.raw('blob', '..')]);
    return [
      ['40000', 'sub', up],
      ['120000', 'way', await quarry.raw('blob', 'sub/up/../outside/secret')],
    ];
  }),
  named('git data in the disguise of a code point that nobody sees', '.g\u200cit', '.g\u200cit', PROTECTION_OFF),
  named('git data in the disguise of a short name', 'git~1', 'git~1', PROTECTION_OFF),
  named('a name with a control character', 'x\u001b[2J', 'x\u001b[2J'),
  {
    name: 'two names that are one file on other machines',
    plant: async (quarry) => {
      const [one, two] = [await quarry.raw('blob', 'harmless'), await quarry.raw('blob', TOKEN)];
      await quarry.plant(['100644', 'run.js', one], ['100644', 'run.js\u200d', two]);
    },
    escaped: inStage('run.js\u200d'),
    control: inClone('run.js\u200d'),
  },
  forgiven('a mode that git gave up', (blob) => [['100664', 'zz', blob]]),
  forgiven('a mode with a zero before it', (blob) => [['0100644', 'zz', blob]]),
  forgiven('a setuid program', (blob) => [['104755', 'zz', blob]]),
  forgiven('one name twice', (blob) => [
    ['100644', 'zz', blob],
    ['100644', 'zz', blob],
  ]),
  {
    name: 'attributes change the bytes of a file',
    plant: (quarry) => attributes(quarry, '* text eol=crlf ident\n', '$Id$\n'),
    escaped: async (quarry) => (await quarry.text(quarry.stage, 'zz')) !== '$Id$\n',
    control: async (quarry) => /^\$Id: .*\r\n$/.test(await quarry.text(await quarry.clone(), 'zz')),
  },
  {
    name: 'a filter runs a program',
    plant: async (quarry) => {
      await attributes(quarry, '* filter=evil\n', 'text\n');
      await quarry.git('config', 'filter.evil.smudge', quarry.program);
    },
    escaped: (quarry) => quarry.ran(),
    async control(quarry) {
      await quarry.clone('-c', `filter.evil.smudge=${quarry.program}`);
      return quarry.ran();
    },
  },
  {
    name: 'a hook in the object cache runs a program',
    plant: () => Promise.resolve(),
    async read(quarry) {
      await quarry.read();
      await hook(quarry, await quarry.cache());
      await quarry.plant(['100644', 'zz', await quarry.raw('blob', 'more')]);
      return quarry.read();
    },
    escaped: (quarry) => quarry.ran(),
    async control(quarry) {
      const clone = await quarry.clone();
      await hook(quarry, join(clone, '.git'));
      await quarry.plant(['100644', 'zz', await quarry.raw('blob', 'more')]);
      await plainGit(['-C', clone, 'fetch', '--quiet']);
      return quarry.ran();
    },
  },
  {
    name: 'the configuration of an origin runs a program',
    plant: (quarry) => quarry.git('config', 'core.fsmonitor', quarry.program),
    escaped: (quarry) => quarry.ran(),
    async control(quarry) {
      await quarry.git('status');
      return quarry.ran();
    },
  },
  {
    name: 'a ref that is an option runs a program',
    plant: () => Promise.resolve(),
    read: (quarry) => quarry.read({ ref: `--upload-pack=${quarry.program}` }),
    escaped: (quarry) => quarry.ran(),
    async control(quarry) {
      await plainGit(['ls-remote', `--upload-pack=${quarry.program}`, quarry.origin]).catch(() => undefined);
      return quarry.ran();
    },
  },
  {
    name: 'an origin that is a program',
    plant: () => Promise.resolve(),
    read: (quarry) => quarry.read({ origin: `ext::${quarry.program}` }),
    escaped: (quarry) => quarry.ran(),
    async control(quarry) {
      await plainGit(['-c', 'protocol.ext.allow=always', 'ls-remote', `ext::${quarry.program}`]).catch(() => undefined);
      return quarry.ran();
    },
  },
  ...(process.geteuid?.() === 0 ? [borrowed] : []),
  {
    name: 'a submodule is fetched from wherever the repository says',
    async plant(quarry) {
      const other = join(quarry.root, 'other');
      await cp(quarry.origin, other, { recursive: true });
      await writeFile(join(other, 'stolen'), TOKEN);
      await plainGit(['-C', other, 'add', '--all']);
      await plainGit(['-C', other, 'commit', '--quiet', '--message', 'stolen']);
      const commit = await plainGit(['-C', other, 'rev-parse', 'HEAD']);
      const modules = `[submodule "lib"]\n\tpath = zlib\n\turl = ${other}\n`;
      await appendFile(join(quarry.origin, '.gitmodules'), modules);
      await quarry.git('add', '.gitmodules');
      await quarry.git('update-index', '--add', '--cacheinfo', `160000,${commit},zlib`);
      await quarry.git('commit', '--quiet', '--message', 'submodule');
    },
    escaped: inStage('zlib/stolen'),
    async control(quarry) {
      const clone = await quarry.clone();
      const update = ['submodule', 'update', '--quiet', '--init'];
      await plainGit(['-C', clone, '-c', 'protocol.file.allow=always', ...update]);
      return (await quarry.text(clone, 'zlib/stolen')).includes(TOKEN);
    },
  },
  {
    name: 'a pointer is deployed in place of a large file',
    plant: async (quarry) => quarry.plant(['100644', 'zz.bin', await quarry.raw('blob', POINTER)]),
    // What is refused is thrown away with its stage, and never sealed.
    escaped: async (quarry) => (await quarry.read()) === null,
    control: inClone('zz.bin'),
  },
  {
    name: 'a shallow origin whose history nobody can prove',
    async plant(quarry) {
      await quarry.plant(['100644', 'zz', await quarry.raw('blob', 'more')]);
      await plainGit(['clone', '--quiet', '--depth=1', `file://${quarry.origin}`, join(quarry.root, 'shallow')]);
    },
    read: (quarry) => quarry.read({ origin: join(quarry.root, 'shallow') }),
    escaped: inStage('recipe.toml'),
    async control(quarry) {
      const clone = join(quarry.root, 'clone');
      await plainGit(['clone', '--quiet', join(quarry.root, 'shallow'), clone]);
      return (await readFile(join(clone, 'zz'), 'utf8')) === 'more';
    },
  },
  forged('a replacement stands for a commit', async (quarry, unrelated) => {
    const tree = await quarry.git('rev-parse', `${unrelated}^{tree}`);
    const other = await quarry.git('commit-tree', tree, '-p', quarry.first, '-m', 'unrelated');
    await quarry.git('replace', unrelated, other);
  }),
  forged('a graft gives a commit another parent', (quarry, unrelated) =>
    writeFile(join(quarry.origin, '.git/info/grafts'), `${unrelated} ${quarry.first}\n`),
  ),
];

async function attributes(quarry: Quarry, lines: string, text: string): Promise<void> {
  await writeFile(join(quarry.origin, '.gitattributes'), lines);
  const [rules, content] = [await quarry.raw('blob', lines), await quarry.raw('blob', text)];
  const recipe = await quarry.git('rev-parse', `${quarry.first}:recipe.toml`);
  const tree = await quarry.tree(
    ['100644', '.gitattributes', rules],
    ['100644', 'recipe.toml', recipe],
    ['100644', 'zz', content],
  );
  const commit = await quarry.git('commit-tree', tree, '-p', quarry.first, '-m', 'attributes');
  await quarry.git('update-ref', 'refs/heads/main', commit);
}

async function hook(quarry: Quarry, repository: string): Promise<void> {
  await cp(quarry.program, join(repository, 'hooks/reference-transaction'), { recursive: true });
}

/** What a repository holds, and says of itself, to whoever reads it; each with a plain git as its control. */
export const sourceCases = (): readonly HostileCase[] => attacks.map(caseOf);
