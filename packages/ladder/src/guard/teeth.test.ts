import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { GUARANTEES, type Guarantee, type GuaranteeName } from './testing/guarantees.ts';
import type { LadderPackage } from './testing/world.ts';

// Each guarantee of the guard is worth something when a package that breaks it is seen to. Every variant is this
// package with one change; the guarantee that is named must go red, and by its own assertion.

interface Variant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** A second change of the same file, where two lines hold the same thing up. */
  readonly also?: readonly [from: string, to: string];
  readonly red: GuaranteeName;
}

const variants: readonly Variant[] = [
  {
    file: 'guard/clearance.ts',
    from: "if (resolution.kind === 'unknown') return refused(unknownTarget(registry, ref));",
    to: "if (resolution.kind === 'unknown') return ok(registry.ladder.slots[0] as Slot);",
    red: 'what is unknown is refused, whatever keys there are',
  },
  {
    file: 'guard/keys.ts',
    from: "environment[GUARD_VARIABLE] === '1'",
    to: 'allowGuarded',
    red: 'the flag alone opens nothing, and the variable is named as missing',
  },
  {
    file: 'guard/keys.ts',
    from: 'allowGuarded ?',
    to: "environment[GUARD_VARIABLE] === '1' ?",
    red: 'the variable alone opens nothing, and the flag is named as missing',
  },
  {
    file: 'guard/keys.ts',
    from: "environment[GUARD_VARIABLE] === '1'",
    to: 'Number(environment[GUARD_VARIABLE]) === 1',
    red: 'the variable is exactly 1',
  },
  {
    file: 'guard/clearance.ts',
    from: 'const missing = slot.guarded ? missingKeys(keys) : [];',
    to: "const missing = slot.name.startsWith('prod') && slot.namespace === shown(ref).text ? missingKeys(keys) : [];",
    red: 'a guarded slot is met by its name',
  },
  {
    file: 'ladder/identity.ts',
    from: "...(slot.namespace === undefined ? [] : [{ text: slot.namespace, field: 'namespace' as const }]),",
    to: '',
    red: 'a guarded slot is met by its namespace, given as whatever',
  },
  {
    file: 'ladder/identity.ts',
    from: "{ text: host, field: 'hosts' as const, index },",
    to: '',
    red: 'a guarded slot is met by each of its hosts',
  },
  {
    file: 'registry/resolve.ts',
    from: ' || basesOf(slot).some((base) => isOf(base, text))',
    to: ' || isOf(slot.name, text)',
    red: 'a guarded slot is met by every generation of its name and its namespace',
  },
  { file: 'ladder/identity.ts', from: 'slot.guarded === true', to: 'false', red: 'www. is folded for a guarded slot' },
  {
    file: 'ladder/identity.ts',
    from: 'slot.guarded === true',
    to: 'true',
    red: 'www. is not folded for an unguarded slot',
  },
  {
    file: 'ladder/host.ts',
    from: ".replace(/\\.+$/, '')",
    to: '',
    red: 'hosts are compared without case, port, trailing dot and credentials',
  },
  {
    file: 'ladder/host.ts',
    from: 'const host = hostOfUrl(`https://${text.trim()}`);',
    to: "const host = text.trim().toLowerCase().replace(/^.*@/, '').replace(/:\\d+$/, '').replace(/\\.$/, '');",
    red: 'hosts are compared after IDNA',
  },
  {
    file: 'registry/resolve.ts',
    from: 'any.some((text) => means(slot, text))',
    to: 'own !== null && means(slot, own)',
    red: 'a guarded slot is met by any reading of the text',
  },
  {
    file: 'registry/resolve.ts',
    from: 'const slot = guarded ?? slots.find((one) => own !== null && means(one, own));',
    to: 'const slot = slots.find((one) => own !== null && means(one, own)) ?? guarded;',
    red: 'doubt falls to the guarded side',
  },
  {
    file: 'ladder/check.ts',
    from: '...unguardedProduction(slots), ',
    to: '',
    red: 'unguarded production is never a slot',
  },
  {
    file: 'ladder/check.ts',
    from: '...ambiguities(slots), ',
    to: '',
    red: 'a text that means two slots is never loaded',
  },
  {
    file: 'registry/registry.ts',
    from: "demotions.length > 0 && policy !== 'report-and-keep-guarded'",
    to: 'false',
    red: 'a configuration that lowers a guarded slot is refused, and that is the default',
  },
  {
    file: 'registry/registry.ts',
    from: "policy: DemotionPolicy = 'refuse'",
    to: "policy: DemotionPolicy = 'report-and-keep-guarded'",
    red: 'a configuration that lowers a guarded slot is refused, and that is the default',
  },
  {
    file: 'registry/merge.ts',
    from: 'if (owner === undefined) demotions.push(omission(base));',
    to: 'if (owner === undefined) continue;',
    red: 'a configuration that leaves a guarded slot out is refused',
  },
  {
    file: 'registry/merge.ts',
    from: 'touching.filter((one) => !one.guarded)',
    to: 'touching.filter((one) => !one.guarded && (one !== owner || one.name === base.name))',
    red: 'a configuration that renames a guarded slot away is refused',
  },
  {
    file: 'registry/merge.ts',
    from: 'config.filter((slot) => touches(base, slot))',
    to: 'config.filter((slot) => slot.name === base.name || owned.has(base)).concat(config.filter((s) => s.guarded))',
    red: 'reported, a renamed slot stays guarded by its old identities and its new ones',
  },
  {
    file: 'registry/merge.ts',
    from: 'for (const slot of touching.filter((one) => !one.guarded)) {',
    to: 'for (const slot of touching.filter((one) => !one.guarded && one === owner)) {',
    red: 'an unguarded slot that claims an identity of a guarded one is refused',
  },
  {
    file: 'registry/merge.ts',
    from: '    guarded: true,\n',
    to: '',
    red: 'reported, a lowered slot stays guarded by every identity',
  },
  {
    file: 'registry/merge.ts',
    from: 'hosts: [...new Set([...slot.hosts, ...base.hosts])],',
    to: '',
    red: 'reported, a lowered slot stays guarded by every identity',
  },
  {
    file: 'registry/merge.ts',
    from: 'slots: [...present, ...standing]',
    to: 'slots: present',
    red: 'reported, a slot that was left out stays',
  },
  {
    file: 'registry/merge.ts',
    from: '...(aliases.length === 0 ? {} : { aliases }),',
    to: '',
    red: 'a guarded slot that changes its namespace is guarded by both',
  },
  {
    file: 'registry/merge.ts',
    from: 'hosts: slot.hosts.filter((host) => !taken.has(host))',
    to: 'hosts: slot.hosts',
    red: 'reported, a claimed host stays the guarded slot’s',
  },
  {
    file: 'registry/registry.ts',
    from: 'const problems = ladderProblems(ladder.slots);',
    to: 'const problems = ladderProblems(ladder.slots.filter((slot) => !slot.guarded));',
    also: ['if (ladderProblems(ladder.slots).length > 0)', 'if (ladder.slots.length === 0)'],
    red: 'what comes out of a merge is checked again',
  },
  {
    file: 'guard/clearance.ts',
    from: 'about(ref, registry.notesOn(slot))',
    to: 'about(ref, [])',
    red: 'a refusal tells of the attempt to lower the slot',
  },
  {
    file: 'registry/registry.ts',
    from: 'frozen(structuredClone(ladder))',
    to: 'ladder',
    red: 'a registry cannot be changed from outside',
  },
  {
    file: 'ladder/host.ts',
    from: 'return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;',
    to: 'return parsed.href;',
    red: 'no refusal and no audit line shows a credential',
  },
  {
    file: 'registry/reference.ts',
    from: ".slice(text.lastIndexOf('@') + 1)",
    to: '',
    red: 'no refusal and no audit line shows a credential',
  },
  {
    file: 'ladder/identity.ts',
    from: 'namespace === base || isOf(base, namespace)',
    to: 'namespace === base',
    red: 'a clearance covers its slot’s namespace and its generations',
  },
  {
    file: 'ladder/identity.ts',
    from: 'namespace === base || isOf(base, namespace)',
    to: 'namespace.startsWith(base)',
    red: 'a clearance covers nothing else',
  },
  {
    file: 'guard/clearance.ts',
    from: '!covered.ok || covered.value.name === name',
    to: 'name !== namespace',
    red: 'a clearance is for the slot that was cleared, not for one that says it stands in its place',
  },
  {
    file: 'guard/clearance.ts',
    from: "(typeof value === 'object' && value !== null && #slot in value ? value.#slot : null)",
    to: '(value instanceof Clearance || Object(value).slot ? (value as Clearance).slot : null)',
    red: 'a clearance that the guard did not make is worth nothing',
  },
  {
    file: 'guard/clearance.ts',
    from: "if (key !== KEY) throw new TypeError('only the guard makes a clearance');",
    to: '',
    red: 'nobody makes a clearance through the class of another',
  },
  {
    file: 'guard/clearance.ts',
    from: 'Object.freeze(this.prototype);',
    to: '',
    red: 'a clearance cannot be bent to another slot',
  },
  {
    file: 'guard/clearance.ts',
    from: 'Object.freeze(this);',
    to: '',
    red: 'a clearance cannot be bent to another slot',
  },
  {
    file: 'guard/guard.ts',
    from: '.find((answer) => !answer.ok);',
    to: '.find((answer) => !answer.ok && refs.length < 2);',
    red: 'all of several or none',
  },
  {
    file: 'guard/guard.ts',
    from: 'const cleared = clear(registry, keys, to);',
    to: 'const cleared = clear(registry, keys, from);',
    red: 'a promotion needs the keys of the slot that it changes',
  },
  {
    file: 'ladder/hop.ts',
    from: "    case 'wrong-direction':\n",
    to: "    case 'wrong-direction':\n      if (move.allowSkip === true) return ok({ skipped: [] });\n",
    red: 'a move against the ladder is refused whatever keys and options there are',
  },
  {
    file: 'ladder/hop.ts',
    from: 'if (move.allowSkip === true) return ok({ skipped: hop.skipped });',
    to: 'return ok({ skipped: hop.skipped });',
    red: 'a skip is refused unless it is allowed, and the rungs come back',
  },
  {
    file: 'guard/guard.ts',
    from: 'skipped: hop.value.skipped })',
    to: 'skipped: [] })',
    red: 'a skip is refused unless it is allowed, and the rungs come back',
  },
  {
    file: 'guard/guard.ts',
    from: 'const written = await record(',
    to: 'if (!answer.ok) return answer;\n    const written = await record(',
    red: 'every clearance, granted or refused, is written down with who, what, where from and outcome',
  },
  {
    file: 'guard/guard.ts',
    from: 'return answer.ok && !written.ok ? written : answer;',
    to: 'void written;\n    return answer;',
    red: 'a clearance that cannot be written down is not given',
  },
  {
    file: 'guard/guard.ts',
    from: "return resolution.kind === 'slot' ? ok(resolution.slot) : refused(unknownTarget(registry, ref));",
    to: "return resolution.kind === 'slot' ? ok(resolution.slot) : ok(registry.ladder.slots[0] as Slot);",
    red: 'looking needs no key, and what is unknown is let through only when that was asked for',
  },
  {
    file: 'operations/guarded.ts',
    from: 'if (!covered.ok) {',
    to: 'if (!covered.ok && namespace === what) {',
    red: 'no change reaches the operations without a clearance that covers it',
  },
  {
    file: 'operations/guarded.ts',
    from: 'if (!begun.ok) return begun;',
    to: 'void begun;',
    red: 'no change is made that was not written down first',
  },
];

const source = fileURLToPath(new URL('../', import.meta.url));
let root: string;

before(() => {
  root = mkdtempSync(join(tmpdir(), 'idunn-ladder-teeth-'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  symlinkSync(join(source, '../../../node_modules'), join(root, 'node_modules'));
});
after(() => rmSync(root, { recursive: true }));

/** This package with one change, or with none. */
async function variantPackage(name: string, variant?: Variant): Promise<LadderPackage> {
  const copy = join(root, name);
  cpSync(source, copy, { recursive: true, filter: (path) => !/\.test\.ts$|\/testing$/.test(path) });
  if (variant !== undefined) {
    let text = readFileSync(join(copy, variant.file), 'utf8');
    for (const [from, to] of [[variant.from, variant.to], variant.also ?? []] as const) {
      if (from === undefined || to === undefined) continue;
      assert.equal(text.split(from).length, 2, `${variant.file} does not have exactly one ${from}`);
      text = text.replace(from, () => to);
    }
    writeFileSync(join(copy, variant.file), text);
  }
  return (await import(pathToFileURL(join(copy, 'index.ts')).href)) as LadderPackage;
}

test('a copy without a change keeps every guarantee', async () => {
  const copy = await variantPackage('unchanged');
  for (const guarantee of Object.values<Guarantee>(GUARANTEES)) await guarantee(copy);
});

for (const [index, variant] of variants.entries()) {
  const change = `${variant.file}: ${variant.to.trim() || 'nothing'} for ${variant.from.trim()}`;
  test(`red is “${variant.red}”, by ${change}`, async () => {
    const broken = await variantPackage(`variant-${index}`, variant);
    await assert.rejects(GUARANTEES[variant.red](broken), (error: Error) => {
      assert.ok(error instanceof assert.AssertionError || error.message.startsWith('refused: '), `${error.stack}`);
      return true;
    });
  });
}

test('every guarantee that forbids something has a variant that breaks it', () => {
  const allows: readonly GuaranteeName[] = [
    'an unguarded slot is cleared without keys',
    'a configuration may raise a slot',
  ];
  const bitten = new Set([...allows, ...variants.map(({ red }) => red)]);
  assert.deepEqual(
    Object.keys(GUARANTEES).filter((name) => !bitten.has(name as GuaranteeName)),
    [],
  );
});
