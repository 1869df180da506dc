import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { seen } from '@idunn/kernel';
import { answerOf, memoryAuditing, SLOTS, valueOf, worldOf } from '../guard/testing/world.ts';
import * as ladder from '../index.ts';

const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
const [, qa, production] = SLOTS as [ladder.Slot, ladder.Slot, ladder.Slot];

let root: string;
let staging: string;
const placeOf = (slot: ladder.Slot): string => join(root, slot.name);

const data = ladder.directoryData({
  description: 'uploads',
  locate: placeOf,
  standing: ladder.NOTHING_RUNS,
  async neutralise(directory) {
    unlinkSync(join(directory, 'webhooks'));
    return ['webhooks: removed'];
  },
});

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'idunn-directory-'));
  staging = join(root, 'staging');
  for (const path of [staging, placeOf(production), join(placeOf(production), 'a'), placeOf(qa)]) mkdirSync(path);
  writeFileSync(join(placeOf(production), 'a', 'one'), '1', { mode: 0o640 });
  utimesSync(join(placeOf(production), 'a', 'one'), 1_000, 1_000);
  writeFileSync(join(placeOf(production), 'webhooks'), 'https://…');
  writeFileSync(join(placeOf(qa), 'old'), 'old');
});
afterEach(() => rmSync(root, { recursive: true }));

const load = () => ladder.loadInto({ data, clearance, slot: qa, staging, auditing: memoryAuditing() });

test('files are copied down whole; what was replaced is kept until the next load', async () => {
  assert.deepEqual(valueOf(await data.dump(production, staging)).parts, [ladder.part.complete('files', 2)]);
  assert.deepEqual(valueOf(await load()).neutralised, ['webhooks: removed']);
  const one = join(placeOf(qa), 'a', 'one');
  assert.deepEqual(
    [readFileSync(one, 'utf8'), statSync(one).mode & 0o777, statSync(one).mtimeMs],
    ['1', 0o640, 1_000_000],
  );
  assert.ok(!existsSync(join(placeOf(qa), 'old')) && existsSync(join(`${placeOf(qa)}.previous`, 'old')));
  valueOf(await load());
  assert.ok(!existsSync(join(`${placeOf(qa)}.previous`, 'old')));
});

test('a link among the files is a part that failed, not files without it', async () => {
  symlinkSync('/etc/passwd', join(placeOf(production), 'link'));
  const [captured] = valueOf(await data.dump(production, staging)).parts;
  assert.ok(captured?.state === 'failed' && /link/.test(captured.detail));
});

test('a directory that is not there is a part that failed', async () => {
  rmSync(placeOf(production), { recursive: true });
  const { parts, watermark } = valueOf(await data.dump(production, staging));
  assert.deepEqual([ladder.completeness(parts).kind, watermark === null], ['incomplete', false]);
});

test('the watermark moves with a write, and its count with a deletion', async () => {
  const mark = async () => {
    const read = await data.watermark(production);
    assert.equal(read.kind, 'seen');
    return read.kind === 'seen' ? read.value : null;
  };
  utimesSync(join(placeOf(production), 'webhooks'), 2_000, 2_000);
  const before = await mark();
  assert.deepEqual(before, { mark: '2000000000', magnitude: { files: 2 } });
  unlinkSync(join(placeOf(production), 'a', 'one'));
  assert.ok(before !== null);
  assert.equal(ladder.wouldDiscard(before, seen((await mark()) ?? before)).kind, 'removed-rows');
});

test('F27: a load that a crash interrupted between the two renames is settled by the next', async () => {
  valueOf(await data.dump(production, staging));
  renameSync(placeOf(qa), `${placeOf(qa)}.previous`);
  rmSync(join(staging, 'files'), { recursive: true });
  assert.equal(answerOf(await load()), 'data-unusable');
  mkdirSync(join(staging, 'files'));
  symlinkSync('x', join(staging, 'files', 'link'));
  assert.equal(answerOf(await load()), 'bundle-path-unsafe');
  assert.equal(readFileSync(join(placeOf(qa), 'old'), 'utf8'), 'old');
});

test('no change without a clearance of the slot', async () => {
  const token = ladder.quiesced(production, null);
  assert.equal(answerOf(await data.load(clearance, production, staging, token)), 'clearance-elsewhere');
  assert.equal(answerOf(await data.neutraliseAfterLoad(clearance, production, token)), 'clearance-elsewhere');
});
