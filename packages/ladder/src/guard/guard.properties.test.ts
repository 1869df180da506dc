import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as ladder from '../index.ts';
import { ladderProblems } from '../ladder/check.ts';
import { BOTH_KEYS, countingOperations, memoryAuditing } from './testing/world.ts';

const RUNS = { numRuns: 150 };

/** Few words, so that random ladders clash often. */
const word = fc.constantFrom('a', 'b', 'c', 'a-20260101-0000', 'b-20261231-2359', 'ns-a', 'ns-b');
const host = fc.constantFrom('a.test', 'www.a.test', 'b.test', 'bücher.test', 'c.a.test');
const slot: fc.Arbitrary<ladder.Slot> = fc.record({
  name: word,
  namespace: word,
  hosts: fc.array(host, { maxLength: 2 }),
  role: fc.constantFrom('development', 'test', 'staging', 'production'),
  guarded: fc.boolean(),
  promotes_to: fc.array(word, { maxLength: 1 }),
});
const someSlots = fc.array(slot, { minLength: 1, maxLength: 4 });
/** Random slots without edges, so that most of them are a ladder. */
const looseSlots = someSlots.map((slots) => slots.map((one) => ({ ...one, promotes_to: [] })));

/** Every way that somebody may write an identity of a slot. */
function referencesTo({ name, namespace, hosts, guarded }: ladder.Slot): readonly ladder.TargetRef[] {
  const texts = [name, namespace, `${name}-20260615-1200`, `${namespace}-20260615-1200`];
  const spellings = hosts.flatMap((one) => [
    one,
    one.toUpperCase(),
    `${one}.`,
    `${one}:8443`,
    `ada:pw@${one}`,
    ...(guarded ? [one.startsWith('www.') ? one.slice(4) : `www.${one}`] : []),
  ]);
  return [
    ...texts.flatMap((text) => [{ slot: text }, { namespace: text }, { slot: ` ${text.toUpperCase()} ` }]),
    ...spellings.flatMap((text) => [{ host: text }, { url: `https://${text}/x?y` }, { url: `pg://${text}` }]),
  ];
}

test('over random baselines and configurations no merge lowers a guarded slot, by any reference to it', () => {
  let loaded = 0;
  fc.assert(
    fc.property(looseSlots, looseSlots, fc.boolean(), (declared, configured, report) => {
      const baseline = ladder.createRegistry(declared);
      const config = ladder.createRegistry(configured);
      if (!baseline.ok || !config.ok) return;
      const policy = report ? 'report-and-keep-guarded' : 'refuse';
      const merged = ladder.loadOver(baseline.value, config.value.ladder, policy);
      if (!merged.ok) return;
      loaded += 1;
      for (const base of baseline.value.ladder.slots.filter(({ guarded }) => guarded)) {
        for (const ref of referencesTo(base)) {
          const found = merged.value.resolve(ref);
          assert.ok(found.kind === 'slot' && found.slot.guarded, `${JSON.stringify(ref)} of ${base.name}`);
        }
      }
      // What the configuration guards is guarded too.
      for (const raised of config.value.ladder.slots.filter(({ guarded }) => guarded)) {
        const found = merged.value.resolve({ slot: raised.name });
        assert.ok(found.kind === 'slot' && found.slot.guarded);
      }
      if (!report) assert.deepEqual(merged.value.demotions, []);
    }),
    { ...RUNS, numRuns: 1500 },
  );
  assert.ok(loaded > 50, `only ${loaded} merges were loaded`);
});

test('no ladder with a circle, an ambiguity or unguarded production is ever a registry', () => {
  let refused = 0;
  fc.assert(
    fc.property(someSlots, (slots) => {
      const registry = ladder.createRegistry(slots);
      if (!registry.ok) refused += 1;
      else assert.deepEqual(ladderProblems(registry.value.ladder.slots), []);
      if (!registry.ok) return;
      for (const one of registry.value.ladder.slots) {
        assert.ok(one.guarded || one.role !== 'production');
        for (const ref of referencesTo(one)) {
          const found = registry.value.resolve(ref);
          assert.ok(found.kind === 'slot' && found.slot.name === one.name, `${JSON.stringify(ref)} is not ${one.name}`);
        }
        // Walking up always ends.
        let rungs = 0;
        for (let at = one; at.promotes_to[0] !== undefined; rungs += 1) {
          assert.ok(rungs < slots.length);
          at = registry.value.ladder.slots.find(({ name }) => name === at.promotes_to[0]) ?? one;
        }
      }
    }),
    RUNS,
  );
  assert.ok(refused > 20);
});

test('no reference by any identity reaches a change of a guarded slot without both keys', async () => {
  const keys = fc.constantFrom<ladder.Keys>(
    ladder.NO_KEYS,
    { allowGuarded: true, environment: {} },
    { allowGuarded: false, environment: { IDUNN_ALLOW_GUARDED: '1' } },
    { allowGuarded: true, environment: { IDUNN_ALLOW_GUARDED: 'true' } },
    BOTH_KEYS,
  );
  await fc.assert(
    fc.asyncProperty(looseSlots, keys, async (declared, given) => {
      const made = ladder.createRegistry(declared);
      if (!made.ok) return;
      const registry = made.value;
      const auditing = memoryAuditing();
      const operations = countingOperations();
      const guarded = ladder.guardedOperations(operations, auditing);
      const guard = ladder.createGuard({ registry, keys: given, auditing });
      const namespaces = registry.ladder.slots.map(({ namespace }) => namespace);
      for (const ref of registry.ladder.slots.flatMap(referencesTo)) {
        const cleared = await guard.clear(ref);
        // What was refused, or something like it, is tried all the same; what was given is tried everywhere.
        const clearance = cleared.ok ? cleared.value : (registry.ladder.slots[0] as unknown as ladder.Clearance);
        for (const namespace of namespaces) await guarded.sleep(clearance, { namespace, deadlineMs: 1 });
      }
      const open = registry.ladder.slots.filter((one) => !one.guarded || given === BOTH_KEYS);
      const reached = new Set(operations.reached);
      assert.deepEqual([...reached].toSorted(), open.map(({ namespace }) => `sleep ${namespace}`).toSorted());
      const done = auditing.lines.filter(({ kind, outcome }) => kind === 'operation' && outcome === 'done');
      assert.equal(done.length, operations.reached.length);
    }),
    { numRuns: 40 },
  );
});
