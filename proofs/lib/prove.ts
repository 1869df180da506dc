import type { Proof } from './proof.ts';

/** Runs a proof, tells a person how it goes, and prints its one JSON line last. Sets the exit code. */
export async function prove(proof: Proof, quick: boolean): Promise<void> {
  console.error(`${proof.name}: ${proof.promise}`);
  const begun = performance.now();
  const note = (text: string) =>
    console.error(`  ${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  const { figures, claims } = await proof.run({ quick, note });
  for (const { holds, says } of claims) console.error(`  ${holds ? 'holds ' : 'BROKEN'}  ${says}`);
  const broken = claims.filter((each) => !each.holds).map((each) => each.says);
  console.log(JSON.stringify({ proof: proof.name, quick, held: broken.length === 0, ...figures, broken }));
  process.exitCode = broken.length === 0 && claims.length > 0 ? 0 : 1;
}
