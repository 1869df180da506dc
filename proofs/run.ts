import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Proof } from './lib/proof.ts';

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
  await prove(await load(name));
}

async function prove(proof: Proof): Promise<void> {
  console.error(`${proof.name}: ${proof.promise}`);
  const begun = performance.now();
  const note = (text: string) =>
    console.error(`  ${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  const { figures, claims } = await proof.run({ quick: values.quick, note });
  for (const { holds, says } of claims) console.error(`  ${holds ? 'holds ' : 'BROKEN'}  ${says}`);
  const broken = claims.filter((each) => !each.holds).map((each) => each.says);
  console.log(
    JSON.stringify({ proof: proof.name, quick: values.quick, held: broken.length === 0, ...figures, broken }),
  );
  process.exitCode = broken.length === 0 && claims.length > 0 ? 0 : 1;
}
