import assert from 'node:assert/strict';
import { access, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { bench, codeOf, RECIPE, valueOf } from './testing/bench.ts';
import type { RawEntry } from './testing/repository.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Names that some file system, or git itself, takes for the data of a repository. */
for (const name of [
  '.git',
  '.GIT',
  '.Git',
  'git~1',
  'GIT~1',
  '.git.',
  '.git ',
  '.git . .',
  '.g\u200cit',
  '\ufeff.git',
  '.gi\u00adt',
  '.git::$INDEX_ALLOCATION',
  '.git\\config',
  'x\\.git',
]) {
  test(`I11: a tree with ${JSON.stringify(name)} is refused before anything is staged`, async (context) => {
    const { repository, first, resolve } = await bench(context);
    const blob = await repository.raw('blob', '[core]\n\tfsmonitor = touch witness\n');
    await repository.plant(['100644', name, blob]);
    assert.equal(codeOf(await resolve()), 'source-path-unsafe');
    // Deeper, and as a directory, it is the same.
    await repository.git('update-ref', 'refs/heads/main', first);
    await repository.plant([
      '40000',
      'vendor',
      await repository.tree(['40000', name, await repository.tree(['100644', 'config', blob])]),
    ]);
    assert.equal(codeOf(await resolve()), 'source-path-unsafe');
  });
}

test('names that only look like it are no git data', async (context) => {
  const { repository, resolve, stage, paths } = await bench(context);
  const blob = await repository.raw('blob', 'x');
  const names = ['.git-blame-ignore-revs', '.gitattributes', '.gitignore', '.github', '.gitx', 'git', 'git~2', 'x.git'];
  await repository.plant(...names.map((name): RawEntry => ['100644', name, blob]));
  valueOf(await stage(valueOf(await resolve())));
  for (const name of names) assert.equal(await readFile(join(paths.tree, name), 'utf8'), 'x', name);
});

for (const [what, entries] of [
  ['a name with a newline', [['100644', 'a\nb', '']]],
  ['a name with an escape', [['100644', 'a\u001b[2Jb', '']]],
  ['a name that is no UTF-8', [['100644', bytes('a\xff'), '']]],
  ['a name that is half a surrogate', [['100644', bytes('\xed\xa0\x80'), '']]],
  ['a name that is too long for a file system', [['100644', 'n'.repeat(256), '']]],
  ['the name ..', [['100644', '..', '']]],
  ['the name .', [['100644', '.', '']]],
] as const) {
  test(`${what} is refused`, async (context) => {
    const { repository, resolve } = await bench(context);
    const blob = await repository.raw('blob', 'x');
    await repository.plant(...entries.map(([mode, name]): RawEntry => [mode, name, blob]));
    assert.equal(codeOf(await resolve()), 'source-path-unsafe');
  });
}

for (const [what, says, entries] of [
  [
    'the same name twice',
    'twice',
    [
      ['100644', 'zz'],
      ['100755', 'zz'],
    ],
  ],
  [
    'a file and a directory of one name',
    'twice',
    [
      ['100644', 'zz'],
      ['40000', 'zz'],
    ],
  ],
  [
    'names out of order',
    'out of order',
    [
      ['100644', 'zzz'],
      ['100644', 'zz'],
    ],
  ],
  ['a mode that was given up', '100664', [['100664', 'zz']]],
  ['a mode with a zero before it', '0100644', [['0100644', 'zz']]],
  ['a device', '20644', [['20644', 'zz']]],
  ['a setuid program', '104755', [['104755', 'zz']]],
  ['a mode that is no number', '777777', [['777777', 'zz']]],
  ['a slash in a name', 'slash', [['100644', 'zz/../../x']]],
] as const) {
  test(`I2: a tree with ${what} is not forgiven`, async (context) => {
    const { repository, resolve } = await bench(context);
    const blob = await repository.raw('blob', 'x');
    const tree = await repository.tree(['100644', 'a', blob]);
    const kept = await repository.git('rev-parse', 'HEAD:deployment');
    const planted = entries.map(([mode, name]): RawEntry => [mode, name, mode === '40000' ? tree : blob]);
    await repository.commitTree(await repository.tree(['40000', 'deployment', kept], ...planted));
    const outcome = await resolve();
    assert.equal(codeOf(outcome), 'source-tree-malformed');
    assert.ok(JSON.stringify(outcome).includes(says));
  });
}

test('a tree without a name in it, or cut in the middle, is refused by git already', async (context) => {
  const { repository, resolve } = await bench(context);
  const blob = await repository.raw('blob', 'x');
  for (const tree of [await repository.tree(['100644', '', blob]), await repository.raw('tree', '100644 a\0abc')]) {
    await repository.commitTree(tree);
    assert.equal(codeOf(await resolve()), 'source-unreachable');
  }
});

for (const [what, first, second] of [
  ['by case', 'Server.js', 'server.js'],
  ['by composition', 'caf\u00e9', 'cafe\u0301'],
  ['by a code point that nobody sees', 'main\u200d.js', 'main.js'],
  ['by both', 'CAFE\u0301', 'caf\u00e9'],
] as const) {
  test(`names that differ ${what} alone are refused, unless the binding keeps them`, async (context) => {
    const { repository, resolve, stage, paths } = await bench(context);
    const blobs = [await repository.raw('blob', '1'), await repository.raw('blob', '2')] as const;
    await repository.plant(['100644', first, blobs[0]], ['100644', second, blobs[1]]);
    const outcome = await resolve();
    assert.equal(codeOf(outcome), 'source-names-collide');
    // What cannot be seen is shown by its code point.
    assert.match(JSON.stringify(outcome), /[\x20-\x7e]+/);
    assert.doesNotMatch(JSON.stringify(outcome), /[^\x20-\x7e]/);
    valueOf(await stage(valueOf(await resolve({ collidingNames: 'keep' }))));
    assert.equal(await readFile(join(paths.tree, first), 'utf8'), '1');
    assert.equal(await readFile(join(paths.tree, second), 'utf8'), '2');
  });
}

test('directories collide as files do; equal names in different directories do not', async (context) => {
  const { repository, resolve } = await bench(context);
  const tree = await repository.tree(['100644', 'a', await repository.raw('blob', 'x')]);
  await repository.plant(['40000', 'Lib', tree], ['40000', 'other', tree]);
  valueOf(await resolve());
  await repository.plant(['40000', 'lib', tree]);
  assert.equal(codeOf(await resolve()), 'source-names-collide');
});

for (const [path, target] of [
  ['absolute', '/etc/passwd'],
  ['parent', '../outside'],
  ['src/deep', '../../outside'],
  ['itself', 'itself'],
  ['through-a-file', 'src/main.js/../../..'],
] as const) {
  test(`I11: the link ${path} -> ${target} is refused, nothing is written through it`, async (context) => {
    const { repository, resolve, stage, paths } = await bench(context);
    await repository.link(path, target);
    await repository.commit('link');
    assert.equal(codeOf(await stage(valueOf(await resolve()))), 'source-link-leaves-tree');
    await assert.rejects(readlink(join(paths.tree, path)), { code: 'ENOENT' });
  });
}

test('I11: a link that leaves the tree only through another link is refused', async (context) => {
  const { repository, resolve, stage } = await bench(context);
  await repository.link('p/q/up', '../..');
  await repository.link('p/q/escape', 'up/../outside');
  await repository.commit('links');
  assert.equal(codeOf(await stage(valueOf(await resolve()))), 'source-link-leaves-tree');
});

test('a link that leads nowhere inside the tree is copied as it is', async (context) => {
  const { repository, resolve, stage, paths } = await bench(context);
  await repository.link('later', 'build/output');
  await repository.commit('link');
  valueOf(await stage(valueOf(await resolve())));
  assert.equal(await readlink(join(paths.tree, 'later')), 'build/output');
});

for (const [what, target] of [
  ['empty', ''],
  ['cut by a zero byte', 'src\0x'],
  ['no UTF-8', bytes('a\xff')],
  ['longer than a path', 'a/'.repeat(3_000)],
] as const) {
  test(`a link whose target is ${what} is refused`, async (context) => {
    const { repository, resolve, stage } = await bench(context);
    await repository.plant(['120000', 'odd', await repository.raw('blob', target)]);
    assert.equal(codeOf(await stage(valueOf(await resolve()))), 'source-link-leaves-tree');
  });
}

test('directories below directories: as deep as a path carries, and no deeper', async (context) => {
  const { repository, resolve, stage, paths } = await bench(context);
  const nested = async (depth: number): Promise<string> => {
    let tree = await repository.tree(['100644', 'f', await repository.raw('blob', 'x')]);
    for (let level = 1; level < depth; level += 1) tree = await repository.tree(['40000', 'd', tree]);
    return tree;
  };
  await repository.plant(['40000', 'deep', await nested(300)]);
  valueOf(await stage(valueOf(await resolve())));
  await access(join(paths.tree, 'deep', 'd/'.repeat(299), 'f'));
  await repository.plant(['40000', 'deeper', await nested(1_100)]);
  assert.equal(codeOf(await resolve()), 'source-path-unsafe');
});

test('a tree that is small as objects and endless as files is refused before it fills memory', async (context) => {
  const { repository, resolve } = await bench(context);
  let tree = await repository.tree(['100644', 'f', await repository.raw('blob', 'x')]);
  for (let level = 0; level < 6; level += 1) {
    tree = await repository.tree(...Array.from({ length: 10 }, (_, n): RawEntry => ['40000', `d${n}`, tree]));
  }
  await repository.plant(['40000', 'bomb', tree]);
  assert.equal(codeOf(await resolve()), 'source-too-large');
});

test('an empty directory, which a tree can record, is part of it', async (context) => {
  const { repository, resolve, stage, paths } = await bench(context);
  await repository.plant(['40000', 'void', await repository.raw('tree', '')]);
  valueOf(await stage(valueOf(await resolve())));
  assert.deepEqual(await readdir(join(paths.tree, 'void')), []);
});

test('I2: whatever attributes say, a file is its blob, byte for byte', async (context) => {
  const { repository, resolve, stage, paths } = await bench(context);
  const raw = Buffer.from('$Id$ $Format:%H$\r\nline\n\0\xff', 'latin1');
  await repository.plant(
    ['100644', 'raw.bin', await repository.raw('blob', raw)],
    [
      '100644',
      '.gitattributes',
      await repository.raw(
        'blob',
        '* text=auto eol=crlf ident filter=lfs diff=x merge=x\n* export-subst working-tree-encoding=UTF-16\nsrc export-ignore\n',
      ),
    ],
  );
  valueOf(await stage(valueOf(await resolve())));
  assert.deepEqual(await readFile(join(paths.tree, 'raw.bin')), raw);
  assert.equal((await stat(join(paths.tree, 'src'))).isDirectory(), true);
});

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;

test('pointers of large-file storage are refused by name, unless the binding keeps them', async (context) => {
  const { repository, resolve, stage, paths } = await bench(context);
  await repository.write('model.bin', POINTER);
  await repository.write('assets/film.mp4', POINTER.replace('oid', `ext-0-foo sha256:${'b'.repeat(64)}\noid`));
  await repository.write('notes.md', `Pointers look so:\n${POINTER}`);
  await repository.commit('pointers');
  const outcome = await stage(valueOf(await resolve()));
  assert.equal(codeOf(outcome), 'source-lfs-pointers');
  assert.match(JSON.stringify(outcome), /assets\/film\.mp4/);
  assert.match(JSON.stringify(outcome), /model\.bin/);
  assert.doesNotMatch(JSON.stringify(outcome), /notes\.md/);
  valueOf(await stage(valueOf(await resolve({ lfsPointers: 'keep' }))));
  assert.equal(await readFile(join(paths.tree, 'model.bin'), 'utf8'), POINTER);
});

test('a commit that git would not write is refused; so is a ref that leads to no commit', async (context) => {
  const { repository, first, resolve } = await bench(context);
  const tree = await repository.git('rev-parse', 'HEAD^{tree}');
  const odd = await repository.raw('commit', `tree ${tree}\nparent ${first}\nbogus\n\nx`);
  await repository.git('update-ref', 'refs/heads/main', odd);
  assert.equal(codeOf(await resolve()), 'source-commit-malformed');
  await repository.git('update-ref', 'refs/tags/tree', tree);
  assert.equal(codeOf(await resolve({ ref: 'refs/tags/tree' })), 'source-commit-missing');
  const gone = await repository.raw('commit', `tree ${'f'.repeat(40)}\n\nx`);
  await repository.git('update-ref', 'refs/heads/gone', gone);
  assert.equal(codeOf(await resolve({ ref: 'refs/heads/gone' })), 'source-unreachable');
  // A recipe that is a directory's or a link's name is none.
  assert.equal(codeOf(await resolve({ ref: 'refs/heads/main', commit: first, recipePath: 'src' })), 'recipe-missing');
  assert.equal(valueOf(await resolve({ commit: first })).facts.recipePath, RECIPE);
});
