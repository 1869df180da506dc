import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cycleFaults, importFaults, manifestFaults } from './lib/imports.ts';
import { deadFiles } from './lib/reach.ts';
import { type Fault, type Repository, repositoryOf } from './lib/repository.ts';
import { tidyFaults } from './lib/tidy.ts';

// The house's rules are worth something when each is seen to catch what it is for, and to let alone what only looks so.

const manifest = (name: string, dependencies: Record<string, string>, more: object = {}): string =>
  JSON.stringify({
    name: `@idunn/${name}`,
    exports: { '.': { source: './src/index.ts' }, './testing': { source: './src/testing/index.ts' } },
    dependencies,
    ...more,
  });

/** A small house in order, with `changes` planted in it. */
function house(changes: Readonly<Record<string, string>> = {}): Repository {
  return repositoryOf(
    new Map(
      Object.entries({
        'package.json': JSON.stringify({ name: 'root', devDependencies: { 'fast-check': '4.0.0' } }),
        'packages/kernel/package.json': manifest('kernel', {}),
        'packages/kernel/src/index.ts': "export { a } from './a.ts';\n",
        'packages/kernel/src/a.ts': 'export const a = 1;\n',
        'packages/kernel/src/a.test.ts': "import { a } from './a.ts';\nimport fc from 'fast-check';\n",
        'packages/kernel/src/testing/index.ts': 'export const help = 1;\n',
        'packages/release/package.json': manifest('release', { '@idunn/kernel': '0.1.0', zod: '4.0.0' }),
        'packages/release/src/index.ts': "import { a } from '@idunn/kernel';\nimport { z } from 'zod';\n",
        'packages/release/src/testing/index.ts': "import { help } from '@idunn/kernel/testing';\n",
        ...changes,
      }),
    ),
  );
}

const everyFault = (repository: Repository): readonly Fault[] => [
  ...importFaults(repository),
  ...cycleFaults(repository),
  ...manifestFaults(repository),
  ...tidyFaults(repository, []),
  ...deadFiles(repository),
];

test('a house in order has no fault', () => {
  assert.deepEqual(everyFault(house()), []);
});

const release = 'packages/release/src/index.ts';
const inOrder = "import { a } from '@idunn/kernel';\nimport { z } from 'zod';\n";
const kernel = 'packages/kernel/src/a.ts';

const planted: readonly (readonly [rule: string, what: string, changes: Readonly<Record<string, string>>])[] = [
  ['import', 'against the table', { 'packages/kernel/src/a.ts': "import { r } from '@idunn/release';\n" }],
  ['import', 'against the table, dynamically', { [kernel]: "const r = await import('@idunn/release');\n" }],
  ['import', 'against the table, by re-export', { [kernel]: "export * from '@idunn/release';\n" }],
  ['import', 'against the table, for its types', { [kernel]: "import type { R } from '@idunn/release';\n" }],
  ['import', 'past a front door', { [release]: `${inOrder}import { b } from '@idunn/kernel/src/a.ts';\n` }],
  ['import', 'into another package by path', { [release]: `${inOrder}import { b } from '../../kernel/src/a.ts';\n` }],
  ['import', 'of a helper of tests', { [kernel]: "import { help } from './testing/index.ts';\n" }],
  ['import', 'of another room’s helper of tests', { [release]: `${inOrder}import '@idunn/kernel/testing';\n` }],
  ['import', 'of what is not there', { [kernel]: "import { b } from './b.ts';\n" }],
  ['import', 'of what no manifest names, in a test', { 'packages/kernel/src/a.test.ts': "import x from 'leftpad';\n" }],
  ['import', 'of a computed name', { [kernel]: 'const name = "fs";\nexport const a = await import(name);\n' }],
  ['import', 'by require', { [kernel]: "export const a = require('node:fs');\n" }],
  [
    'cycle',
    'between files',
    {
      'packages/kernel/src/a.ts': "import { b } from './b.ts';\n",
      'packages/kernel/src/b.ts': "import { a } from './a.ts';\n",
    },
  ],
  ['cycle', 'between packages', { [kernel]: "import { r } from '@idunn/release';\n" }],
  ['manifest', 'imported and not named', { [kernel]: "import { z } from 'zod';\n" }],
  ['manifest', 'named and not imported', { 'packages/kernel/package.json': manifest('kernel', { zod: '4.0.0' }) }],
  [
    'manifest',
    'not exact',
    { 'packages/release/package.json': manifest('release', { '@idunn/kernel': '0.1.0', zod: '^4.0.0' }) },
  ],
  ['wall-clock', 'Date.now', { [kernel]: 'export const a = Date.now();\n' }],
  ['wall-clock', 'new Date()', { [kernel]: 'export const a = new Date();\n' }],
  ['wall-clock', 'inside a template', { [kernel]: 'export const a = `${{ b: `${Date.now()}` }.b}`;\n' }],
  ['random', 'Math.random', { [kernel]: 'export const a = Math.random();\n' }],
  ['timers', 'setTimeout', { [kernel]: 'setTimeout(() => {}, 1);\n' }],
  ['timers', 'of the global object', { [kernel]: 'globalThis.setTimeout(() => {}, 1);\n' }],
  ['timers', 'by import', { [kernel]: "import { setInterval } from 'node:timers';\n" }],
  ['environment', 'process.env', { [kernel]: 'export const a = process.env["HOME"];\n' }],
  ['shell', 'exec', { [kernel]: "import { exec } from 'node:child_process';\n" }],
  ['shell', 'shell: true', { [kernel]: 'spawn("ls", { shell: true });\n' }],
  ['shell', 'in a test too', { 'packages/kernel/src/a.test.ts': "execSync('ls');\n" }],
  ['recursive-delete', 'rm', { [kernel]: 'await rm(directory, {\n  recursive: true,\n});\n' }],
  ['write', 'writeFile', { [kernel]: "import { readFile, writeFile } from 'node:fs/promises';\n" }],
  ['write', 'under another name', { [kernel]: "import { rmSync as gone } from 'node:fs';\n" }],
  ['write', 'a whole module', { [kernel]: "import * as fs from 'node:fs';\n" }],
  ['write', 'the default export', { [kernel]: "import fs from 'node:fs';\n" }],
  ['write', 'open for writing', { [kernel]: "import { open } from 'node:fs/promises';\nawait open(a, 'wx');\n" }],
  ['any', 'as a type', { [kernel]: 'export const a: any = 1;\n' }],
  ['any', 'in a cast', { [kernel]: 'export const a = 1 as any;\n' }],
  ['any', 'in an argument', { [kernel]: 'export const a = new Map<string, any>();\n' }],
  ['silenced-check', 'ts-ignore', { [kernel]: '// @ts-ignore\nexport const a = 1;\n' }],
  ['silenced-check', 'a lint rule', { [kernel]: '/* oxlint-disable no-var */\nexport const a = 1;\n' }],
  ['half-test', 'only', { 'packages/kernel/src/a.test.ts': "test.only('a', () => {});\n" }],
  ['half-test', 'skip as an option', { 'packages/kernel/src/a.test.ts': "test('a', { skip: true }, () => {});\n" }],
  ['half-test', 'skip with a reason', { 'packages/kernel/src/a.test.ts': "test('a', { skip: 'slow' }, () => {});\n" }],
  ['half-test', 'todo', { 'packages/kernel/src/a.test.ts': "describe.todo('a');\n" }],
  ['unfinished', 'a note to finish it', { [kernel]: '// TODO: more\nexport const a = 1;\n' }],
  ['line-length', 'a long line', { [kernel]: `export const a = '${'x'.repeat(120)}';\n` }],
  ['file-length', 'a long file', { [kernel]: 'export {};\n'.repeat(601) }],
  ['file-length', 'a long test', { 'packages/kernel/src/a.test.ts': 'export {};\n'.repeat(801) }],
  ['dead-file', 'nobody imports it', { 'packages/kernel/src/left.ts': 'export const left = 1;\n' }],
  [
    'dead-file',
    'only a test imports it',
    {
      'packages/kernel/src/left.ts': 'export const left = 1;\n',
      'packages/kernel/src/left.test.ts': "import { left } from './left.ts';\n",
    },
  ],
  ['dead-file', 'a helper that no test uses', { 'packages/kernel/src/x/testing/left.ts': 'export const left = 1;\n' }],
];

for (const [rule, what, changes] of planted) {
  test(`${rule} is seen: ${what}`, () => {
    assert.ok(everyFault(house(changes)).some((fault) => fault.rule === rule));
  });
}

const innocent: readonly (readonly [what: string, code: string])[] = [
  ['words in a comment', '// Date.now, setTimeout and process.env are banned here\nexport const a = 1;\n'],
  ['words in a string', "export const a = 'Math.random() shell: true';\n"],
  ['words in a template', 'export const a = `setTimeout ${1} process.env`;\n'],
  ['words in a regular expression', 'export const a = /Date.now["\']/.test("x");\n'],
  ['a date of a given moment', 'export const a = new Date(1);\n'],
  ['exec of a regular expression', "export const a = /x/.exec('x');\n"],
  ['an import in a comment', "// import { r } from '@idunn/release';\nexport const a = 1;\n"],
  ['an import in a string', 'export const a = "import { r } from \'@idunn/release\'";\n'],
  ['reading a file', "import { open, readFile } from 'node:fs/promises';\nexport const a = await open('b', 'r');\n"],
  ['a sentence on a line of its own', `export const a = {\n  remedy: '${'x '.repeat(60)}',\n};\n`],
  ['a socket’s own timeout', 'export const a = (socket) => socket.setTimeout(1);\n'],
  ['the word any', 'export const a = { any: 1 };\n/** any of them */\nexport const b = a.any;\n'],
  ['division', 'export const a = 4 / 2; const b = "Date.now" + 1 / 2;\n'],
];

for (const [what, code] of innocent) {
  test(`left alone: ${what}`, () => {
    assert.deepEqual(everyFault(house({ [kernel]: code })), []);
  });
}

test('a program that is started by its file is alive', () => {
  const changes = {
    [kernel]: "export const a = new URL('./thread.ts', import.meta.url);\n",
    'packages/kernel/src/thread.ts': 'export const thread = 1;\n',
  };
  assert.deepEqual(everyFault(house(changes)), []);
});

test('a program that a script or an installation starts is alive', () => {
  const changes = {
    'package.json': JSON.stringify({
      name: 'root',
      devDependencies: { 'fast-check': '4.0.0' },
      scripts: { main: 'node packages/kernel/src/main.ts' },
    }),
    'packages/kernel/src/main.ts': 'export const main = 1;\n',
    [kernel]: "export const a = 'node_modules/@idunn/kernel/dist/other.js';\n",
    'packages/kernel/src/other.ts': 'export const other = 1;\n',
  };
  assert.deepEqual(everyFault(house(changes)), []);
});

test('an exception lets its file through, and one that excepts nothing is a fault', () => {
  const repository = house({ [kernel]: 'export const a = Date.now();\n' });
  const exception = { path: kernel, rule: 'wall-clock', because: 'is the clock' };
  assert.deepEqual(tidyFaults(repository, [exception]), []);
  assert.deepEqual(
    tidyFaults(house(), [exception]).map(({ rule, where }) => [rule, where]),
    [['exception', kernel]],
  );
});
