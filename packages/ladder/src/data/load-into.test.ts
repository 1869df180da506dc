import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { answerOf, memoryAuditing, slotOf, valueOf, worldOf } from '../guard/testing/world.ts';
import * as ladder from '../index.ts';

const qa = slotOf('qa');
const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
const broken: Outcome<never> = refused(refusal('data-not-reached', 'The disk is gone.'));

/** An application that notes what is asked of it, and fails at one step. */
function application(fails?: string, parts: readonly ladder.Part[] = [ladder.part.complete('database', 1)]) {
  const asked: string[] = [];
  const answer = async <T>(step: string, value: T): Promise<Outcome<T>> => {
    asked.push(step);
    return step === fails ? broken : ok(value);
  };
  const data: ladder.AppData = {
    describe: () => 'shop',
    quiesce: (_, slot) => answer('quiesce', ladder.quiesced(slot, 3)),
    resume: (_, __, token) => answer(`resume ${JSON.stringify(token.resumeToken)}`, undefined),
    dump: () => answer('dump', { parts, watermark: null, appMeta: {} }),
    load: () => answer('load', { parts }),
    watermark: async () => absent,
    neutraliseAfterLoad: () => answer('neutralise', ['outbox: 12 rows']),
  };
  return { asked, data };
}

const load = (data: ladder.AppData, auditing = memoryAuditing(), slot = qa) =>
  ladder.loadInto({ data, clearance, slot, staging: '/nowhere', auditing });

test('a load stops the slot, loads, neutralises and starts it again, each step written down', async () => {
  const { asked, data } = application();
  const auditing = memoryAuditing();
  assert.deepEqual(valueOf(await load(data, auditing)).neutralised, ['outbox: 12 rows']);
  assert.deepEqual(asked, ['quiesce', 'load', 'neutralise', 'resume 3']);
  assert.deepEqual(
    auditing.lines.map(({ what, outcome }) => `${what} ${outcome}`).filter((line) => line.endsWith('done')),
    ['quiesce', 'load', 'neutralise', 'resume'].map((step) => `${step} the data of orchard-qa done`),
  );
});

test('after a load that failed the slot is started again with what it had', async () => {
  const { asked, data } = application('load');
  assert.equal(answerOf(await load(data)), 'data-not-reached');
  assert.deepEqual(asked, ['quiesce', 'load', 'resume 3']);
});

test('a copy that could not be neutralised is not started, and the refusal says so', async () => {
  const { asked, data } = application('neutralise');
  assert.equal(answerOf(await load(data)), 'copy-not-neutralised');
  assert.deepEqual(asked, ['quiesce', 'load', 'neutralise']);
});

test('a slot that could not be stopped is not loaded, one that did not start again is told', async () => {
  const stuck = application('quiesce');
  assert.equal(answerOf(await load(stuck.data)), 'data-not-reached');
  assert.deepEqual(stuck.asked, ['quiesce']);
  assert.equal(answerOf(await load(application('resume 3').data)), 'data-not-reached');
});

test('a load that is not whole is no success', async () => {
  const { asked, data } = application(undefined, [ladder.part.partial('database', 1, 2, 'the rest was refused')]);
  assert.equal(answerOf(await load(data)), 'capture-incomplete');
  assert.deepEqual(asked.slice(-2), ['neutralise', 'resume 3']);
});

test('nothing is asked of the application without a clearance for the slot', async () => {
  const { asked, data } = application();
  assert.equal(answerOf(await load(data, memoryAuditing(), slotOf('production'))), 'clearance-elsewhere');
  const disguised = { ...slotOf('production'), namespace: qa.namespace };
  assert.equal(answerOf(await load(data, memoryAuditing(), disguised)), 'clearance-elsewhere');
  assert.deepEqual(asked, []);
});

test('the word that one slot stands still is worth nothing for another', () => {
  const token = ladder.quiesced(qa, null);
  assert.ok(ladder.requireQuiesced(token, qa).ok);
  assert.equal(answerOf(ladder.requireQuiesced(token, slotOf('production'))), 'slot-not-quiesced');
});
