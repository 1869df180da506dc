import { openStore, step } from './workbench.ts';

// Runs under a limit on the size of its files, which SQLite meets in the middle of a commit.
process.on('SIGXFSZ', () => {});
const store = await openStore(process.argv[2] ?? '');
for (let n = 1; ; n += 1) {
  const result = await store.commit(step(n, 10_000));
  if (result.kind === 'committed') continue;
  const record = await store.get({ space: 'journal', kind: 'transaction', id: 't' });
  const entries = await store.history();
  console.log(JSON.stringify({ n, result, record: record?.value['n'], entries: entries.length }));
  break;
}
await store.close();
