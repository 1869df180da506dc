import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkloadEvent, WorkloadHandle } from '@idunn/authority';
import { ok } from '@idunn/kernel';
import { attendWatched } from './attending.ts';

const handleOf = (activation: string): WorkloadHandle => ({
  version: 1,
  driver: 'process',
  target: 'game',
  activation,
  identity: { kind: 'linux-process', pid: 7, startTime: '1', bootId: 'b', controlGroup: null, pidNamespace: 'p' },
});

/** Programs that are watched, and an attendant that answers when it is let. */
function bench() {
  const asked: string[] = [];
  const closed: string[] = [];
  const said: string[] = [];
  let answer = (): void => undefined;
  let watch: (handle: WorkloadHandle) => void = () => undefined;
  let tell: (event: WorkloadEvent) => void = () => undefined;
  const attending = attendWatched(
    {
      isAttended: (activation) =>
        activation === 'unreadable' ? Promise.reject(new Error('EIO')) : Promise.resolve(activation !== 'embedded'),
      onWatch: (listener) => void (watch = listener),
      subscribe: (listener) => void (tell = listener),
    },
    {
      async open({ activation }) {
        asked.push(activation);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return ok('open');
      },
      close: async (activation) => void closed.push(activation),
    },
    (text) => said.push(text),
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    attending,
    asked,
    closed,
    said,
    settled,
    answer: () => answer(),
    watch: (activation: string) => watch(handleOf(activation)),
    dies: (activation: string) => tell({ kind: 'died', target: 'game', activation }),
  };
}

test('nobody is attended before what runs was found; then a few at once, each in its turn', async () => {
  const { attending, watch, asked, answer, settled } = bench();
  for (let index = 0; index < 10; index += 1) watch(`a-${index}`);
  watch('a-9');
  await settled();
  assert.deepEqual(asked, []);
  attending.begin();
  await settled();
  assert.equal(asked.length, 8);
  answer();
  await settled();
  assert.equal(asked.length, 9);
  answer();
  await settled();
  assert.deepEqual(asked.at(-1), 'a-9');
  assert.equal(asked.length, 10);
});

test('who has died while it waited is not attended; one that cannot be read holds up nobody', async () => {
  const { attending, watch, dies, asked, closed, said, settled } = bench();
  for (const activation of ['gone', 'unreadable', 'embedded', 'living']) watch(activation);
  dies('gone');
  attending.begin();
  await settled();
  assert.deepEqual(asked, ['living']);
  assert.deepEqual(closed, ['gone']);
  assert.match(said.join(), /^unreadable is not attended: Error: EIO$/);
});
