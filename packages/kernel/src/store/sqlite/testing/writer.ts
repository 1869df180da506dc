import { openStore, step } from './workbench.ts';

// Commits numbered steps for as long as it lives, and says each one only after it was committed.
const store = await openStore(process.argv[2] ?? '');
console.log('opened');
for (let n = 1; ; n += 1) {
  const result = await store.commit(step(n));
  if (result.kind !== 'committed') throw new Error(`step ${n}: ${result.kind}`);
  console.log(String(n));
}
