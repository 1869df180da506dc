import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// What the compiler says of a consumer's program: no operation can be called without a clearance, and none can be
// made up.

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
let root: string;

before(() => {
  root = mkdtempSync(join(tmpdir(), 'idunn-ladder-types-'));
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  const compilerOptions = { composite: false, noEmit: true, declaration: false, sourceMap: false };
  const tsconfig = { extends: join(repository, 'tsconfig.base.json'), compilerOptions, files: ['consumer.ts'] };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(tsconfig));
});
after(() => rmSync(root, { recursive: true }));

/** The compiler's complaints about the consumer's own program, by code. */
async function complaints(statement: string): Promise<readonly string[]> {
  const program = `import type { AppData, Clearance, Guard, ReleaseOperations, Slot } from '@idunn/ladder';
declare const operations: ReleaseOperations;
declare const data: AppData;
declare const guard: Guard;
declare const slot: Slot;
declare const clearance: Clearance;
const at = { namespace: 'orchard-qa', deadlineMs: 1 };
export const use = [operations, data, guard, slot, clearance, at];
${statement}
`;
  writeFileSync(join(root, 'consumer.ts'), program);
  const tsc = join(repository, 'node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', root]).catch(
    (error: { readonly stdout: string }) => error,
  );
  return stdout.split('\n').flatMap((line) => /^(?:\S*\/)?consumer\.ts.*error (TS\d+)/.exec(line)?.[1] ?? []);
}

test('with a clearance it compiles', async () => {
  assert.deepEqual(await complaints('await operations.sleep(clearance, at);'), []);
});

const refusedByTheCompiler: readonly (readonly [what: string, statement: string, code: string])[] = [
  ['nothing for the clearance', 'await operations.sleep(at);', 'TS2554'],
  ['a slot for the clearance', 'await operations.sleep(slot, at);', 'TS2739'],
  ['what looks like a clearance', 'await operations.wake({ slot }, at);', 'TS2741'],
  ['what was only looked at', "await operations.wake(guard.allowUnknown().look({ slot: 'qa' }), at);", 'TS2345'],
  ['an answer that nobody read', "await operations.wake(await guard.clear({ slot: 'qa' }), at);", 'TS2345'],
  ['a bare text for a reference', "await guard.clear('production');", 'TS2345'],
];

test('the class of a clearance is a type only, and its constructor is private', async () => {
  const found = await complaints("import { Clearance as C } from '@idunn/ladder'; new C(slot);");
  assert.deepEqual(found.toSorted(), ['TS1362', 'TS1485', 'TS2673']);
});

for (const [what, statement, code] of refusedByTheCompiler) {
  test(`it does not compile with ${what}`, async () => assert.deepEqual(await complaints(statement), [code]));
}
