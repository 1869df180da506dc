import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { digestBytes } from '@idunn/kernel';
import { digestBook } from './digest-book.ts';
import { FileDigests, REMEMBERED_FILES } from './file-digests.ts';

const LATER_MS = 10_000;

function bench(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'idunn-d-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const program = join(directory, 'program');
  writeFileSync(program, 'bytes');
  const book = join(directory, 'digests');
  return {
    program,
    book,
    /** What a daemon that begins then knows of the program without reading it. */
    daemon: (bootId = 'boot', wallMs = statSync(program).ctimeMs + LATER_MS) => {
      const kept = digestBook(book, { bootId, wallMs: () => wallMs });
      return { known: [...kept.known], digests: new FileDigests(kept) };
    },
  };
}

test('I2: what a daemon read is known to the next one of the same boot, until the file is another', async (t) => {
  const { daemon, program } = bench(t);
  const first = daemon();
  assert.deepEqual(first.known, []);
  assert.equal((await first.digests.of(program)).digest, digestBytes('bytes'));
  const next = daemon();
  assert.deepEqual(
    next.known.map(([, digest]) => digest),
    [digestBytes('bytes')],
  );
  const { atime, mtime } = statSync(program);
  writeFileSync(program, 'setyb');
  utimesSync(program, atime, mtime);
  assert.equal((await next.digests.of(program)).digest, digestBytes('setyb'));
  assert.deepEqual(daemon('another boot').known, []);
});

test('I2: a file that has just changed is read again by the next daemon', async (t) => {
  const { daemon, program } = bench(t);
  await daemon('boot', statSync(program).ctimeMs + 10).digests.of(program);
  assert.deepEqual(daemon().known, []);
});

test('I2: a line that was cut off, and a book that others could write, are worth nothing', async (t) => {
  const { daemon, program, book } = bench(t);
  await daemon().digests.of(program);
  const [begin = '', line = ''] = readFileSync(book, 'utf8').split('\n');
  writeFileSync(book, `${begin}\n${line.slice(0, 2)}`);
  appendFileSync(book, `${line}\n`);
  assert.deepEqual(daemon().known, []);
  writeFileSync(book, `${begin}\n${line}\n`);
  assert.equal(daemon().known.length, 1);
  chmodSync(book, 0o622);
  assert.deepEqual(daemon().known, []);
  await daemon().digests.of(program);
  assert.equal(daemon().known.length, 1, 'made anew, and ours');
});

test('files of every length are digested whole, and one that is known is not read again', async (t) => {
  const { daemon, program } = bench(t);
  for (const bytes of [0, 1, 1_048_575, 1_048_576, 1_048_577, 3_000_000]) {
    const content = Buffer.alloc(bytes, 7);
    writeFileSync(program, content);
    const { digests } = daemon();
    assert.equal((await digests.of(program)).digest, digestBytes(content));
    chmodSync(program, 0o600);
    assert.equal((await digests.of(program)).digest, digestBytes(content));
  }
});

test('a book that is full is begun anew, and never grows beyond it', (t) => {
  const { book } = bench(t);
  const kept = digestBook(book, { bootId: 'boot', wallMs: () => LATER_MS });
  for (let n = 0; n <= REMEMBERED_FILES; n += 1) kept.keep(`1:${n}:1:1:1`, digestBytes('bytes'), 0n);
  assert.deepEqual(readFileSync(book, 'utf8').split('\n'), [
    'boot',
    `=1:${REMEMBERED_FILES}:1:1:1 ${digestBytes('bytes')}`,
    '',
  ]);
});
