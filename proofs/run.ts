import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Proof } from './lib/proof.ts';
import { prove } from './lib/prove.ts';

/** `npm run proof` lists the proofs; `npm run proof -- NAME [--quick]` runs one and prints one JSON line last. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
});

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.proof.ts'))
  .map((file) => file.slice(0, -'.proof.ts'.length))
  .sort();

const load = async (name: string): Promise<Proof> =>
  ((await import(new URL(`${name}.proof.ts`, import.meta.url).href)) as { proof: Proof }).proof;

const [name] = positionals;
if (values.list) {
  for (const each of names) console.log(each);
} else if (name === undefined) {
  for (const each of names) console.log(`${each.padEnd(20)} ${(await load(each)).promise}`);
  console.log('\nRun one: npm run proof -- NAME [--quick]');
} else if (!names.includes(name)) {
  console.error(`There is no proof named '${name}'. Known: ${names.join(', ')}.`);
  process.exitCode = 2;
} else {
  await prove(await load(name), values.quick);
}
