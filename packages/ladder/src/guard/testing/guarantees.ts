import assert from 'node:assert/strict';
import type { Clearance, DemotionPolicy, Ladder, Slot, TargetRef } from '../../index.ts';
import {
  answerOf,
  BOTH_KEYS,
  countingOperations,
  type LadderPackage,
  memoryAuditing,
  SLOTS,
  slotOf,
  valueOf,
  worldOf,
} from './world.ts';

/** What the guard promises, each as a check of a package through its front door. */
export type Guarantee = (ladder: LadderPackage) => Promise<void>;

const [dev, qa, production] = SLOTS as [Slot, Slot, Slot];

const config = (ladder: LadderPackage, ...slots: readonly Slot[]): Ladder => ({
  apiVersion: ladder.LADDER_VERSION,
  meta: {},
  slots,
});

const load = (ladder: LadderPackage, policy: DemotionPolicy | undefined, ...slots: readonly Slot[]) =>
  ladder.loadOver(valueOf(ladder.createRegistry([production])), config(ladder, ...slots), policy);

/** The guarded answer without keys is that keys are missing; a reference that was missed is unknown or granted. */
async function assertGuarded(ladder: LadderPackage, ref: TargetRef): Promise<void> {
  const { clear } = worldOf(ladder);
  assert.equal(answerOf(await clear(ref)), 'guard-key-missing', JSON.stringify(ref));
  assert.equal(valueOf(await clear(ref, BOTH_KEYS)).slot.name, 'production');
}

const keptGuarded = (ladder: LadderPackage, refs: readonly TargetRef[], ...slots: readonly Slot[]): void => {
  const registry = valueOf(load(ladder, 'report-and-keep-guarded', ...slots));
  for (const ref of refs) {
    const resolution = registry.resolve(ref);
    assert.ok(resolution.kind === 'slot' && resolution.slot.guarded, `${JSON.stringify(ref)} is not guarded`);
  }
  assert.ok(registry.demotions.length > 0, 'the attempt is not told');
};

const production5: readonly TargetRef[] = [
  { slot: 'production' },
  { namespace: 'orchard-production' },
  { host: 'shop.example.test' },
  { url: 'https://www.shop.example.test/cart' },
  { namespace: 'orchard-production-20261130-0111' },
];

export const GUARANTEES = {
  async 'an unguarded slot is cleared without keys'(ladder) {
    assert.equal(valueOf(await worldOf(ladder).clear({ slot: 'qa' })).slot.name, 'qa');
  },
  async 'what is unknown is refused, whatever keys there are'(ladder) {
    const { clear } = worldOf(ladder);
    for (const ref of [{ slot: 'prodution' }, { host: 'qa.example.test.evil.test' }, { url: 'no url' }, { slot: '' }]) {
      assert.equal(answerOf(await clear(ref, BOTH_KEYS)), 'slot-unknown');
    }
  },
  async 'the flag alone opens nothing, and the variable is named as missing'(ladder) {
    const outcome = await worldOf(ladder).clear({ slot: 'production' }, { allowGuarded: true, environment: {} });
    assert.equal(answerOf(outcome), 'guard-key-missing');
    const text = outcome.ok ? '' : `${outcome.refusal.reason} ${outcome.refusal.remedy}`;
    assert.match(text, /IDUNN_ALLOW_GUARDED=1/);
    assert.doesNotMatch(text, /--allow-guarded/);
  },
  async 'the variable alone opens nothing, and the flag is named as missing'(ladder) {
    const outcome = await worldOf(ladder).clear({ slot: 'production' }, { ...BOTH_KEYS, allowGuarded: false });
    assert.equal(answerOf(outcome), 'guard-key-missing');
    const text = outcome.ok ? '' : `${outcome.refusal.reason} ${outcome.refusal.remedy}`;
    assert.match(text, /--allow-guarded/);
    assert.doesNotMatch(text, /IDUNN_ALLOW_GUARDED/);
  },
  async 'the variable is exactly 1'(ladder) {
    const { clear } = worldOf(ladder);
    for (const value of ['0', 'true', 'false', '', ' 1', '1 ', '01', '11', undefined]) {
      const keys = { allowGuarded: true, environment: { IDUNN_ALLOW_GUARDED: value } };
      assert.equal(answerOf(await clear({ slot: 'production' }, keys)), 'guard-key-missing', `${value}`);
    }
  },
  async 'a guarded slot is met by its name'(ladder) {
    await assertGuarded(ladder, { slot: 'production' });
    await assertGuarded(ladder, { namespace: 'production' });
  },
  async 'a guarded slot is met by its namespace, given as whatever'(ladder) {
    for (const ref of [{ namespace: 'orchard-production' }, { slot: 'orchard-production' }])
      await assertGuarded(ladder, ref);
  },
  async 'a guarded slot is met by each of its hosts'(ladder) {
    await assertGuarded(ladder, { host: 'shop.example.test' });
    await assertGuarded(ladder, { url: 'postgres://app@shop.example.test:5432/app' });
  },
  async 'a guarded slot is met by every generation of its name and its namespace'(ladder) {
    await assertGuarded(ladder, { namespace: 'production-20261130-0111' });
    await assertGuarded(ladder, { namespace: 'orchard-production-20261130-0111' });
  },
  async 'www. is folded for a guarded slot'(ladder) {
    await assertGuarded(ladder, { host: 'www.shop.example.test' });
  },
  async 'www. is not folded for an unguarded slot'(ladder) {
    assert.equal(answerOf(await worldOf(ladder).clear({ host: 'www.qa.example.test' })), 'slot-unknown');
  },
  async 'hosts are compared without case, port, trailing dot and credentials'(ladder) {
    for (const host of [
      'SHOP.Example.Test',
      'shop.example.test:8443',
      'shop.example.test.',
      'ada:pw@shop.example.test',
    ])
      await assertGuarded(ladder, { host });
  },
  async 'hosts are compared after IDNA'(ladder) {
    for (const host of ['BÜCHER.example.test', 'xn--bcher-kva.example.test', 'bu\u0308cher.example.test'])
      await assertGuarded(ladder, { host });
  },
  async 'a guarded slot is met by any reading of the text'(ladder) {
    await assertGuarded(ladder, { slot: 'https://shop.example.test/' });
    await assertGuarded(ladder, { namespace: 'shop.example.test:443' });
  },
  async 'doubt falls to the guarded side'(ladder) {
    // Read as a host this is the slot named https, read as a URL it is production.
    const slots = [slotOf('https', { hosts: [] }), production];
    const { clear } = worldOf(ladder, slots);
    assert.equal(answerOf(await clear({ host: 'https://shop.example.test' })), 'guard-key-missing');
  },
  async 'unguarded production is never a slot'(ladder) {
    assert.equal(answerOf(ladder.createRegistry([{ ...production, guarded: false }])), 'production-unguarded');
  },
  async 'a text that means two slots is never loaded'(ladder) {
    for (const clash of [
      { name: 'orchard-qa' },
      { namespace: 'qa' },
      { namespace: 'qa-20261130-0111' },
      { hosts: ['QA.example.test.'] },
    ])
      assert.equal(answerOf(ladder.createRegistry([qa, slotOf('other', clash), production, dev])), 'slot-ambiguous');
  },
  async 'a configuration may raise a slot'(ladder) {
    const baseline = valueOf(ladder.createRegistry(SLOTS));
    const merged = valueOf(ladder.loadOver(baseline, config(ladder, { ...qa, guarded: true }, production)));
    assert.deepEqual(
      merged.ladder.slots.map(({ guarded }) => guarded),
      [true, true],
    );
  },
  async 'a configuration that lowers a guarded slot is refused, and that is the default'(ladder) {
    const lowered = { ...production, guarded: false, role: 'test' as const };
    for (const policy of ['refuse', undefined] as const) {
      assert.equal(answerOf(load(ladder, policy, lowered)), 'guard-demotion');
    }
  },
  async 'a configuration that leaves a guarded slot out is refused'(ladder) {
    assert.equal(answerOf(load(ladder, 'refuse', dev, { ...qa, promotes_to: [] })), 'guard-demotion');
  },
  async 'a configuration that renames a guarded slot away is refused'(ladder) {
    for (const kept of [{ namespace: 'orchard-production' }, { hosts: ['www.shop.example.test'] }]) {
      const renamed = slotOf('harmless', { hosts: [], ...kept });
      assert.equal(answerOf(load(ladder, 'refuse', renamed)), 'guard-demotion');
    }
  },
  async 'an unguarded slot that claims an identity of a guarded one is refused'(ladder) {
    const claims = [
      [{ ...production, hosts: [] }, slotOf('sly', { hosts: ['shop.example.test'] })],
      [{ ...production, namespace: 'moved' }, slotOf('sly', { namespace: 'orchard-production-20261130-0111' })],
    ];
    for (const claim of claims) assert.equal(answerOf(load(ladder, 'refuse', ...claim)), 'guard-demotion');
  },
  async 'reported, a lowered slot stays guarded by every identity'(ladder) {
    keptGuarded(ladder, production5, { ...production, guarded: false, role: 'test', hosts: [] });
  },
  async 'reported, a slot that was left out stays'(ladder) {
    keptGuarded(ladder, production5, slotOf('other'));
  },
  async 'reported, a renamed slot stays guarded by its old identities and its new ones'(ladder) {
    const renamed = slotOf('harmless', { hosts: ['shop.example.test'] });
    keptGuarded(ladder, [...production5, { slot: 'harmless' }, { namespace: 'orchard-harmless' }], renamed);
  },
  async 'reported, a claimed host stays the guarded slot’s'(ladder) {
    const sly = slotOf('sly', { hosts: ['www.shop.example.test', 'sly.example.test'] });
    keptGuarded(ladder, [...production5, { host: 'www.shop.example.test' }], { ...production, hosts: [] }, sly);
  },
  async 'a guarded slot that changes its namespace is guarded by both'(ladder) {
    const moved = { ...production, namespace: 'orchard-new', hosts: ['new.example.test'] };
    const registry = valueOf(load(ladder, 'refuse', moved));
    for (const ref of [...production5, { namespace: 'orchard-new' }, { host: 'new.example.test' }]) {
      const found = registry.resolve(ref);
      assert.ok(found.kind === 'slot' && found.slot.guarded, JSON.stringify(ref));
    }
  },
  async 'what comes out of a merge is checked again'(ladder) {
    const split = [{ ...production, hosts: [] }, slotOf('twin', { hosts: ['shop.example.test'], guarded: true })];
    for (const policy of ['refuse', 'report-and-keep-guarded'] as const) {
      assert.equal(answerOf(load(ladder, policy, ...split)), 'slot-ambiguous');
    }
  },
  async 'a refusal tells of the attempt to lower the slot'(ladder) {
    const registry = valueOf(load(ladder, 'report-and-keep-guarded', { ...production, guarded: false, role: 'test' }));
    const guard = ladder.createGuard({ registry, keys: ladder.NO_KEYS, auditing: memoryAuditing() });
    const outcome = await guard.clear({ slot: 'production' });
    assert.match(JSON.stringify(outcome), /"notes":\["The configuration tried to lower the guard: /);
  },
  async 'a registry cannot be changed from outside'(ladder) {
    const slots = [{ ...qa, promotes_to: [] }, { ...production }];
    const registry = valueOf(ladder.createRegistry(slots));
    Object.assign(slots[1] ?? {}, { guarded: false });
    assert.throws(() => Object.assign(registry.ladder.slots[1] ?? {}, { guarded: false }), TypeError);
    assert.throws(() => (registry.ladder.slots as Slot[]).pop(), TypeError);
    const found = registry.resolve({ slot: 'production' });
    assert.ok(found.kind === 'slot' && found.slot.guarded);
  },
  async 'no refusal and no audit line shows a credential'(ladder) {
    const { clear, auditing } = worldOf(ladder);
    const secrets = [
      { url: 'https://ada:hunter2@shop.example.test/?token=hunter2#hunter2' },
      { url: 'postgres://ada:hunter2@elsewhere.test/db' },
      { url: 'hunter2@not a url' },
      { host: 'ada:hunter2@shop.example.test' },
      { slot: 'https://ada:hunter2@elsewhere.test/' },
    ];
    for (const ref of secrets) {
      const outcome = await clear(ref);
      assert.ok(!outcome.ok);
      assert.doesNotMatch(JSON.stringify([outcome, auditing.lines]), /hunter2/);
    }
    const seen = await clear(secrets[0] ?? { url: '' });
    assert.match(JSON.stringify(seen), /https:\/\/shop\.example\.test\//);
  },
  async 'a clearance covers its slot’s namespace and its generations'(ladder) {
    const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    for (const namespace of ['orchard-qa', 'orchard-qa-20261130-0111', 'qa-20261130-0111']) {
      assert.ok(ladder.covers(clearance, namespace), namespace);
    }
  },
  async 'a clearance covers nothing else'(ladder) {
    const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    const others = ['orchard-production', 'orchard-dev', 'orchard-qa-2', 'orchard-qa-20261301-0111', 'orchard-q', ''];
    for (const namespace of others) {
      assert.equal(answerOf(ladder.requireCovers(clearance, namespace)), 'clearance-elsewhere', namespace);
    }
  },
  async 'a clearance is for the slot that was cleared, not for one that says it stands in its place'(ladder) {
    const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    const disguised = { ...production, namespace: 'orchard-qa' };
    assert.equal(answerOf(ladder.requireSlot(clearance, disguised)), 'clearance-elsewhere');
    assert.equal(answerOf(ladder.requireSlot(clearance, { ...qa, namespace: 'qa-20261130-0111' })), 'granted');
  },
  async 'a clearance that the guard did not make is worth nothing'(ladder) {
    const real = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    const forgeries: readonly unknown[] = [
      { slot: qa },
      Object.assign({}, real),
      Object.create(real),
      Object.create(Object.getPrototypeOf(real) as object),
      new Proxy(real, {}),
      JSON.parse(JSON.stringify({ slot: real.slot })),
      null,
      undefined,
      'qa',
    ];
    for (const forged of forgeries) {
      assert.equal(answerOf(ladder.requireCovers(forged as Clearance, 'orchard-qa')), 'clearance-not-genuine');
    }
  },
  async 'nobody makes a clearance through the class of another'(ladder) {
    const real = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    const Made = (real as unknown as { constructor: new (...args: unknown[]) => Clearance }).constructor;
    for (const key of [undefined, Symbol('guard'), {}]) assert.throws(() => new Made(production, key), TypeError);
  },
  async 'a clearance cannot be bent to another slot'(ladder) {
    const real = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    assert.throws(() => Object.defineProperty(real, 'slot', { value: production }), TypeError);
    const prototype = Object.getPrototypeOf(real) as object;
    assert.throws(() => Object.defineProperty(prototype, 'slot', { get: () => production }), TypeError);
  },
  async 'all of several or none'(ladder) {
    const registry = valueOf(ladder.createRegistry(SLOTS));
    const auditing = memoryAuditing();
    const guard = ladder.createGuard({ registry, keys: ladder.NO_KEYS, auditing });
    assert.equal(answerOf(await guard.clearAll([{ slot: 'dev' }, { slot: 'production' }])), 'guard-key-missing');
    assert.equal(auditing.lines.filter(({ outcome }) => outcome === 'granted').length, 0);
    assert.equal(valueOf(await guard.clearAll([{ slot: 'dev' }, { slot: 'qa' }])).length, 2);
  },
  async 'a promotion needs the keys of the slot that it changes'(ladder) {
    const registry = valueOf(ladder.createRegistry(SLOTS));
    const guard = ladder.createGuard({ registry, keys: ladder.NO_KEYS, auditing: memoryAuditing() });
    assert.equal(answerOf(await guard.clearPromotion({ slot: 'qa' }, { slot: 'production' })), 'guard-key-missing');
    const copied = valueOf(await guard.clearDataFlow({ slot: 'production' }, { slot: 'qa' }));
    assert.equal(copied.clearance.slot.name, 'qa');
  },
  async 'a move against the ladder is refused whatever keys and options there are'(ladder) {
    const registry = valueOf(ladder.createRegistry(SLOTS));
    const guard = ladder.createGuard({ registry, keys: BOTH_KEYS, auditing: memoryAuditing() });
    const skip = { allowSkip: true };
    const answers = [
      await guard.clearPromotion({ slot: 'production' }, { slot: 'qa' }, skip),
      await guard.clearDataFlow({ host: 'qa.example.test' }, { host: 'shop.example.test' }, skip),
      await guard.clearPromotion({ slot: 'qa' }, { namespace: 'orchard-qa' }, skip),
    ];
    assert.deepEqual(answers.map(answerOf), ['hop-wrong-direction', 'hop-wrong-direction', 'hop-same-slot']);
  },
  async 'a skip is refused unless it is allowed, and the rungs come back'(ladder) {
    const registry = valueOf(ladder.createRegistry(SLOTS));
    const guard = ladder.createGuard({ registry, keys: BOTH_KEYS, auditing: memoryAuditing() });
    const [from, to] = [{ slot: 'dev' }, { slot: 'production' }];
    assert.equal(answerOf(await guard.clearPromotion(from, to)), 'hop-skips-rungs');
    assert.deepEqual(valueOf(await guard.clearPromotion(from, to, { allowSkip: true })).skipped, ['qa']);
  },
  async 'every clearance, granted or refused, is written down with who, what, where from and outcome'(ladder) {
    const { clear, auditing } = worldOf(ladder);
    await clear({ slot: 'qa' });
    await clear({ slot: 'production' });
    await clear({ slot: 'moon' });
    assert.deepEqual(
      auditing.lines.map(({ kind, actor, from, target, outcome }) => [kind, actor, from, target, outcome].join(' ')),
      ['clearance ada test qa granted', 'clearance ada test production refused', 'clearance ada test moon refused'],
    );
  },
  async 'a clearance that cannot be written down is not given'(ladder) {
    const registry = valueOf(ladder.createRegistry(SLOTS));
    const guard = ladder.createGuard({ registry, keys: BOTH_KEYS, auditing: memoryAuditing(true) });
    assert.equal(answerOf(await guard.clear({ slot: 'qa' })), 'audit-unwritable');
    assert.equal(answerOf(await guard.clearDataFlow({ slot: 'production' }, { slot: 'qa' })), 'audit-unwritable');
  },
  async 'looking needs no key, and what is unknown is let through only when that was asked for'(ladder) {
    const registry = valueOf(ladder.createRegistry(SLOTS));
    const auditing = memoryAuditing();
    const guard = ladder.createGuard({ registry, keys: ladder.NO_KEYS, auditing });
    assert.equal(valueOf(guard.look({ slot: 'production' })).name, 'production');
    assert.equal(answerOf(guard.look({ slot: 'moon' })), 'slot-unknown');
    assert.equal(guard.allowUnknown().look({ slot: 'moon' }), null);
    assert.equal(answerOf(guard.preview({ slot: 'production' })), 'guard-key-missing');
    assert.deepEqual(auditing.lines, []);
  },
  async 'no change reaches the operations without a clearance that covers it'(ladder) {
    const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    const operations = countingOperations();
    const auditing = memoryAuditing();
    const guarded = ladder.guardedOperations(operations, auditing);
    const calls = [
      await guarded.sleep(clearance, { namespace: 'orchard-production', deadlineMs: 1 }),
      await guarded.wake({ slot: qa } as unknown as Clearance, { namespace: 'orchard-qa', deadlineMs: 1 }),
      await guarded.dropRoute(clearance, { namespace: 'orchard-qa', host: 'qa.example.test' }),
    ];
    assert.deepEqual(calls.map(answerOf), ['clearance-elsewhere', 'clearance-not-genuine', 'granted']);
    assert.deepEqual(operations.reached, ['dropRoute orchard-qa']);
    assert.deepEqual(
      auditing.lines.map(({ outcome }) => outcome),
      ['refused', 'refused', 'begun', 'done'],
    );
  },
  async 'no change is made that was not written down first'(ladder) {
    const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
    const operations = countingOperations();
    const guarded = ladder.guardedOperations(operations, memoryAuditing(true));
    const outcome = await guarded.sleep(clearance, { namespace: 'orchard-qa', deadlineMs: 1 });
    assert.deepEqual([answerOf(outcome), operations.reached], ['audit-unwritable', []]);
  },
} as const satisfies Readonly<Record<string, Guarantee>>;

export type GuaranteeName = keyof typeof GUARANTEES;
