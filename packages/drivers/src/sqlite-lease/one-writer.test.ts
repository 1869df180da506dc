import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { move, type Writer, Yard } from './testing/yard.ts';

interface Line {
  readonly epoch: number;
  readonly activation: string;
}

function journal(path: string): readonly Line[] {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  const lines = database
    .prepare('SELECT epoch, activation FROM journal ORDER BY seq')
    .all() as unknown as readonly Line[];
  database.close();
  return lines;
}

/** Commits of one database are in one order: an epoch that falls was written after its fence. */
function assertOneWriter(lines: readonly Line[], holderOf: ReadonlyMap<number, string>): void {
  let highest = 0;
  for (const { epoch, activation } of lines) {
    assert.ok(epoch >= highest, `a write under epoch ${epoch} after one under ${highest}`);
    assert.equal(activation, holderOf.get(epoch));
    highest = epoch;
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function passAround(yard: Yard, stores: readonly string[], swaps: number): Promise<readonly number[]> {
  const state = yard.state(...stores.map((id) => ({ id, kind: 'sqlite', path: id }) as const));
  await yard.lease.prepare(state);
  const names = ['act-a', 'act-b'] as const;
  const writers = new Map<string, readonly Writer[]>();
  for (const name of names) {
    writers.set(name, await Promise.all([yard.writer(name, 2, ...stores), yard.writer(name, 1, ...stores)]));
  }
  const holderOf = new Map<number, string>();
  const spans: number[] = [];
  let from: { epoch: number; activation: string | null } = { epoch: 0, activation: null };
  for (let turn = 0; turn < swaps; turn++) {
    const next = names[turn % 2] as string;
    const before = performance.now();
    const answer = await yard.lease.swap(state, move(from, next));
    spans.push(performance.now() - before);
    assert.deepEqual(answer, { kind: 'swapped' });
    from = { epoch: from.epoch + 1, activation: next };
    holderOf.set(from.epoch, next);
    const heirs = writers.get(next) ?? [];
    for (const heir of heirs) heir.grant(from.epoch);
    await Promise.all(heirs.map((heir) => heir.said(`writing ${from.epoch}`)));
  }
  for (const store of stores) {
    const lines = journal(yard.path(store));
    assert.ok(lines.length > swaps, 'too little was written to show anything');
    assertOneWriter(lines, holderOf);
  }
  return spans.slice(1);
}

test('I1: one store passed around between hammering processes is never written under an old epoch', async (t) => {
  const yard = new Yard(t);
  const spans = await passAround(yard, ['app.db'], 40);
  t.diagnostic(
    `swap under three tight writers: median ${median(spans).toFixed(2)} ms, max ${Math.max(...spans).toFixed(2)} ms`,
  );
});

test('I1: several stores are fenced together before one is granted', async (t) => {
  const yard = new Yard(t);
  await passAround(yard, ['one.db', 'two.db'], 15);
});
