import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPrlimit, holdLimits } from './limits.ts';
import { codeOf, must } from './testing/bench.ts';

const none = { memoryBytes: null, processes: null, openFiles: null, logBytes: 1, logFiles: 1 };
const bare = { hierarchies: [], group: null, name: 'idunn-bench/act-1', prlimit: null };

test('a limit that this machine cannot hold is refused by its name, never ignored', () => {
  for (const limit of ['memoryBytes', 'processes', 'openFiles'] as const) {
    const outcome = holdLimits({ ...none, [limit]: 64 }, bare);
    assert.equal(codeOf(outcome), 'limit-not-enforceable');
    assert.match(outcome.ok ? '' : outcome.refusal.reason, new RegExp(limit));
  }
  const readOnly = { ...bare, hierarchies: [{ name: 'memory', mount: '/proc/self' }] };
  assert.equal(codeOf(holdLimits({ ...none, memoryBytes: 64 }, readOnly)), 'limit-not-enforceable');
});

test('without limits nothing stands before the program, and open files are held by a wrapper that execs', () => {
  assert.deepEqual(must(holdLimits(none, bare)), { groups: [], wrapper: [] });
  const prlimit = findPrlimit() ?? '/usr/bin/prlimit';
  const { wrapper } = must(holdLimits({ ...none, openFiles: 99 }, { ...bare, prlimit }));
  assert.deepEqual(wrapper, [prlimit, '--nofile=99:99', '--']);
});
