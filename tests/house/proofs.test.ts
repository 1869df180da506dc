import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './lib/repository.ts';

const page = readFileSync(join(ROOT, 'docs/proofs.md'), 'utf8').split('## What proves what')[1] ?? '';
const TEST = /^ {2}- `([^`]+)`: “(.+)”$/;
const PROOF = /^ {2}- `npm run proof -- ([a-z-]+)`$/;

test('every test that the page of proofs names is there, and so is every proof', () => {
  const named = page.split('\n').filter((line) => line.startsWith('  - '));
  assert.ok(named.length > 60, `${named.length} lines`);
  const wrong = named.filter((line) => {
    const [, file, name] = TEST.exec(line) ?? [];
    if (file !== undefined && name !== undefined) {
      return !existsSync(join(ROOT, file)) || !readFileSync(join(ROOT, file), 'utf8').includes(name);
    }
    const [, proof] = PROOF.exec(line) ?? [];
    return proof === undefined || !existsSync(join(ROOT, `proofs/${proof}.proof.ts`));
  });
  assert.deepEqual(wrong, []);
});

test('each invariant and each statement has a test that shows it', () => {
  const entries = page.split(/^- /m).slice(1);
  const invariants = entries.flatMap((entry) => /^\*\*(I\d+) /.exec(entry)?.[1] ?? []);
  assert.deepEqual(
    invariants,
    Array.from({ length: 12 }, (_, index) => `I${index + 1}`),
  );
  assert.deepEqual(
    entries.filter((entry) => !entry.split('\n').some((line) => TEST.test(line))),
    [],
  );
});
