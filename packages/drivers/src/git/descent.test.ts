import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type TestContext, test } from 'node:test';
import { bench, codeOf, valueOf } from './testing/bench.ts';

/** What every git is asked to do that this process starts. */
function gitsStarted(context: TestContext): () => readonly string[] {
  const children: ChildProcess[] = [];
  const hear = (message: unknown): void => {
    children.push((message as { readonly process: ChildProcess }).process);
  };
  subscribe('child_process', hear);
  context.after(() => unsubscribe('child_process', hear));
  return () =>
    children
      .splice(0)
      .flatMap(({ spawnargs }) => spawnargs.find((word) => /^(fetch|cat-file|merge-base)$/.test(word)) ?? [])
      .toSorted((a, b) => a.localeCompare(b));
}

test('F1: upon a commit that was proven three programs plan the next; git walks a longer way', async (context) => {
  const { repository, resolve } = await bench(context);
  valueOf(await resolve());
  const started = gitsStarted(context);
  for (const change of ['second', 'third']) {
    await repository.write('a', change);
    await repository.commit(change);
    valueOf(await resolve());
    assert.deepEqual(started(), ['cat-file', 'cat-file', 'fetch']);
  }
  for (const change of ['fourth', 'fifth']) {
    await repository.write('a', change);
    await repository.commit(change);
  }
  valueOf(await resolve());
  assert.deepEqual(started(), ['cat-file', 'cat-file', 'fetch', 'merge-base']);
});

test('F1: what was proven of one commit proves nothing of a history put in its place', async (context) => {
  const { repository, resolve, first } = await bench(context);
  await repository.write('a', '1');
  const proven = await repository.commit('second');
  valueOf(await resolve());
  await repository.git('checkout', '--quiet', '--orphan', 'other');
  await repository.commit('another history');
  await repository.git('branch', '--force', 'main', 'other');
  assert.equal(codeOf(await resolve()), 'minimum-revision-unproven');
  await repository.git('branch', '--force', 'main', first);
  assert.equal(codeOf(await resolve({ minimumRevision: proven })), 'minimum-revision-unproven');
  valueOf(await resolve());
});
