import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { binding, docsExample, refusalOf, valueOf } from '../testing/documents.ts';
import { staysInside } from './links.ts';
import { selectSource } from './selection.ts';
import { stagePaths } from './stage-paths.ts';
import { unsafePath } from './tree-path.ts';

const inside = (links: Record<string, string>, path: string): boolean =>
  staysInside(new Map(Object.entries(links)), path);

test('I11: links are followed as the kernel would, step by step', () => {
  assert.ok(inside({ a: 'b' }, 'a'));
  assert.ok(inside({ 'x/a': '../b/./c' }, 'x/a'));
  assert.ok(!inside({ a: '/etc' }, 'a'));
  assert.ok(!inside({ a: '..' }, 'a'));
  assert.ok(!inside({ 'x/a': '../../b' }, 'x/a'));
  // `up` leads to the root, so one more `..` leaves it, although the text stays inside.
  assert.ok(!inside({ 'p/q/up': '../..', 'p/q/l': 'up/../x' }, 'p/q/l'));
  assert.ok(inside({ 'p/q/up': '../..', 'p/q/l': 'up/x' }, 'p/q/l'));
  // A circle never ends, and is no place.
  assert.ok(!inside({ a: 'b', b: 'a' }, 'a'));
});

test('I11: a link that stays inside has no more ways up than ways down, for any target without links in it', () => {
  const part = fc.constantFrom('..', '.', 'd', 'e');
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), fc.integer({ min: 0, max: 3 }), (parts, depth) => {
      const directory = Array.from({ length: depth }, (_, n) => `n${n}`);
      let level = depth;
      let left = false;
      for (const name of parts) {
        if (name === '..') level -= 1;
        else if (name !== '.') level += 1;
        if (level < 0) left = true;
      }
      const path = [...directory, 'link'].join('/');
      assert.equal(inside({ [path]: parts.join('/') }, path), !left);
    }),
  );
});

test('paths that could not be written below a stage', () => {
  for (const path of [
    '',
    '/a',
    'a//b',
    'a/../b',
    './a',
    '.git/config',
    'x/.GIT',
    'a\nb',
    'a\u0000',
    `${'a/'.repeat(3000)}a`,
  ]) {
    assert.notEqual(unsafePath(path), null, JSON.stringify(path));
  }
  for (const path of ['a', 'a b/ü', '.gitignore', '.github/x', '-rf', 'a\\b'])
    assert.equal(unsafePath(path), null, path);
});

test('a stage id cannot name another place', () => {
  for (const id of ['', '..', `../x-${'0'.repeat(64)}`, 'app', `app-${'0'.repeat(63)}`]) {
    assert.throws(() => stagePaths('/stages', id), TypeError);
  }
});

test('a pinned binding admits its commit and nothing else', () => {
  const commit = 'a'.repeat(40);
  const text = docsExample('binding').replace(
    'selection = "ref-head"',
    `selection = "pinned-object"\ncommit = "${commit}"`,
  );
  const pinned = binding(text).binding;
  assert.equal(valueOf(selectSource(pinned, undefined, null)).commit, commit);
  assert.equal(valueOf(selectSource(pinned, commit, null)).commit, commit);
  assert.equal(valueOf(selectSource(pinned, 'main', null)).commit, commit);
  assert.equal(refusalOf(selectSource(pinned, 'b'.repeat(40), null)).code, 'ref-not-admitted');
});
