import { performance } from 'node:perf_hooks';
import type { HostileCase } from './lib/hostile/case.ts';
import { sandboxCases } from './lib/hostile/sandbox-cases.ts';
import { sealCases } from './lib/hostile/seal-cases.ts';
import { sourceCases } from './lib/hostile/source-cases.ts';
import { Yard } from './lib/hostile/yard.ts';
import { claim, type Proof, round } from './lib/proof.ts';

/** Fewer cases than this show too little. */
const LEAST_CASES = 50;

export const proof: Proof = {
  name: 'hostile-repo',
  promise: 'Nothing in a repository, and no step of it, gets past what was admitted; each attempt works unprotected.',
  async run({ note }) {
    const yard = await Yard.open();
    const seals = await sealCases();
    try {
      return await judge([...sourceCases(), ...sandboxCases(yard), ...seals.cases], note);
    } finally {
      await yard.close();
      await seals.close();
    }
  },
};

async function judge(cases: readonly HostileCase[], note: (text: string) => void) {
  const escaped: string[] = [];
  const untold: string[] = [];
  const refused: Record<string, number> = {};
  const begun = performance.now();
  for (const each of cases) {
    const { escaped: out, refusal } = await each.attempt();
    const { succeeded } = await each.control();
    const control = succeeded ? '' : 'CONTROL FAILED ';
    note(`${out ? 'ESCAPED' : 'held   '} ${control}${each.name}${refusal === null ? '' : ` (${refusal})`}`);
    if (out) escaped.push(each.name);
    if (!succeeded) untold.push(each.name);
    if (refusal !== null) refused[refusal] = (refused[refusal] ?? 0) + 1;
  }
  return {
    figures: {
      attempts: cases.length,
      escaped: escaped.length,
      controls: cases.length - untold.length,
      refused,
      spentMs: round(performance.now() - begun),
    },
    claims: [
      claim('nothing got through', escaped.length === 0),
      claim('every attempt gets through without its protection', untold.length === 0),
      claim(`at least ${LEAST_CASES} things were tried`, cases.length >= LEAST_CASES),
    ],
  };
}
