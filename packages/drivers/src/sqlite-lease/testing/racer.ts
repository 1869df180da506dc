import type { StateContract } from '@idunn/release';
import { createSqliteLease } from '../driver.ts';

/** A daemon that takes the row to the next epoch in its own name, so often, and says each answer. */
const [, , stateText = '', name = '', turns = ''] = process.argv;
const state = JSON.parse(stateText) as StateContract;
const lease = createSqliteLease();
for (let turn = 0; turn < Number(turns); turn++) {
  const rows = await lease.read(state);
  const row = rows.kind === 'seen' ? Object.values(rows.value)[0] : undefined;
  if (row === undefined) throw new Error('a prepared state has a row');
  const epoch = row.epoch + 1;
  const to = { epoch, activation: `${name}-${turn}`, release: null, stateSchema: 'v1' };
  const { kind } = await lease.swap(state, { from: row, to, deadlineMs: 20_000 });
  process.stdout.write(`${JSON.stringify({ kind, epoch })}\n`);
}
await lease.close();
