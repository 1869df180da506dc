import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { claim, type Proof } from './lib/proof.ts';

const GUARD = fileURLToPath(new URL('../packages/ladder/src/guard/', import.meta.url));

/** A test file's tests by name, and whether each passed. */
async function testsOf(file: string): Promise<ReadonlyMap<string, boolean>> {
  const argv = ['--conditions=source', '--test', '--test-reporter=tap', `${GUARD}${file}`];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = (await text(child.stdout)).matchAll(/^(not )?ok \d+ - (.*)$/gm);
  return new Map([...lines].map(([, not, name = '']) => [name, not === undefined]));
}

export const proof: Proof = {
  name: 'guard',
  promise: 'Each guarantee of the ladder’s guard is kept, and a package that breaks it is seen to.',
  async run({ note }) {
    const passed = (tests: ReadonlyMap<string, boolean>): number => [...tests.values()].filter(Boolean).length;
    const guarantees = await testsOf('guard.test.ts');
    note(`${passed(guarantees)} of ${guarantees.size} guarantees are kept`);
    const teeth = await testsOf('teeth.test.ts');
    const variants = new Map([...teeth].filter(([name]) => name.startsWith('red is ')));
    for (const [name, caught] of variants) note(`${caught ? 'caught' : 'SURVIVED'}: ${name}`);
    const properties = await testsOf('guard.properties.test.ts');
    const types = await testsOf('clearance-types.test.ts');
    const survived = variants.size - passed(variants);
    return {
      figures: { guarantees: guarantees.size, variants: variants.size, survived, properties: properties.size },
      claims: [
        claim('every guarantee is kept', guarantees.size >= 20 && passed(guarantees) === guarantees.size),
        claim(
          'every broken variant is caught, at least 20 of them',
          variants.size >= 20 && passed(teeth) === teeth.size,
        ),
        claim('no random ladder is lowered or passed', properties.size >= 3 && passed(properties) === properties.size),
        claim('the compiler refuses what is no clearance', types.size >= 5 && passed(types) === types.size),
      ],
    };
  },
};
