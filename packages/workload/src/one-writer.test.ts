import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ACTIVATION, LeaseHand, makeStore, OTHER, scratch } from './testing/authority.ts';

const WRITER = fileURLToPath(new URL('./testing/writer.ts', import.meta.url));
const SWAPS = 60;
const SPAN_MS = 15;

test('I1: of real processes that write in a loop and never relinquish only the named one commits', async (t) => {
  const path = join(scratch(t), 'world.db');
  makeStore(path, 1, null);
  const writers = [
    [ACTIVATION, 'node:sqlite'],
    [OTHER, 'better-sqlite3'],
    [OTHER, 'node:sqlite'],
  ].map((words) =>
    spawn(process.execPath, ['--conditions=source', WRITER, path, ...words], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  t.after(() => {
    for (const writer of writers) writer.kill('SIGKILL');
  });
  const closed = Promise.all(writers.map((writer) => once(writer, 'close')));
  await Promise.all(writers.map((writer) => once(writer.stdout, 'data')));

  const hand = new LeaseHand(path);
  for (let epoch = 2; epoch < 2 + SWAPS; epoch++) {
    const activation = epoch % 2 === 0 ? ACTIVATION : OTHER;
    while (!moved(hand, epoch, activation)) await wait(0);
    await wait(SPAN_MS);
  }
  for (const writer of writers) writer.kill('SIGKILL');
  await closed;

  let [named, swaps] = ['nobody', 0];
  const writes = new Map<string, number>();
  for (const text of hand.world()) {
    const [kind = '', who = ''] = text.split(' ');
    if (kind === 'swap') {
      named = who;
      swaps += 1;
    } else {
      assert.equal(who, named, text);
      writes.set(who, (writes.get(who) ?? 0) + 1);
    }
  }
  hand.close();
  assert.equal(swaps, SWAPS);
  for (const who of [ACTIVATION, OTHER]) assert.ok((writes.get(who) ?? 0) > SWAPS, `${who} wrote ${writes.get(who)}`);
});

/** The swap and its mark in the world are one commit, so the world's order is the order of permission. */
function moved(hand: LeaseHand, epoch: number, activation: string): boolean {
  try {
    hand.database.exec('BEGIN IMMEDIATE');
  } catch {
    return false;
  }
  hand.database.exec(`UPDATE idunn_lease SET epoch = ${epoch}, activation = '${activation}' WHERE id = 1;
    INSERT INTO world (text) VALUES ('swap ${activation} ${epoch}'); COMMIT`);
  return true;
}
