import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { proof } from './chaos.proof.ts';
import { chaos } from './lib/chaos/chaos.ts';
import { prove } from './lib/prove.ts';

/** `npm run chaos -- --minutes N [--seed S]`: hits a real fleet for so long, and prints one JSON line last. */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '2' }, seed: { type: 'string', default: String(randomInt(2 ** 31)) } },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isSafeInteger(seed) || seed < 0) {
  console.error('usage: npm run chaos -- --minutes N [--seed S], with a number over 0 and a whole one');
  process.exitCode = 2;
} else {
  await prove({ ...proof, run: ({ note }) => chaos({ seed, minutes, note }) }, false);
}
