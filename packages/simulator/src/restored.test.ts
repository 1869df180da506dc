import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { ALONE, CALM, diesOnce, GATED, type Scenario, scenarioOf, twoDeploys } from './scenario.ts';
import { dice } from './seed.ts';
import { Simulation } from './simulation.ts';
import { putBackElsewhere, putBackWithin } from './teeth/restored.ts';
import type { TargetShape } from './world/sources.ts';

const ROWS: TargetShape = { stores: 1, routed: true };

for (const [what, shape] of [
  ['behind a gate', GATED],
  ['that compares rows', ROWS],
  ['that cannot overlap', ALONE],
] as const) {
  test(`I1, I5: over a program ${what} that newer records admitted, older ones hold, and say so`, async () => {
    const simulation = new Simulation({ ...twoDeploys('good', shape), restored: { takenAtMs: 150, atMs: 700 } });
    const { violations, world } = await simulation.run();
    assert.deepEqual(violations, []);
    const serving = world.named('app')?.activation ?? '';
    assert.equal(world.processes.get(serving)?.alive, true, 'the newer one serves on');
    assert.equal(world.ledger.of('row').at(-1)?.activation, serving);
    assert.ok((world.ledger.of('row').at(-1)?.atMs ?? 0) < (world.ledger.of('restored')[0]?.atMs ?? 0));
    assert.deepEqual(
      simulation.engine?.incidents().flatMap(({ code }) => (code === 'lease-row-unexpected' ? [code] : [])),
      ['lease-row-unexpected'],
    );
  });
}

test('I1, I4: what older records think admitted lives still, and its lease names another: that is told', async () => {
  const slow = { ...twoDeploys('good', ROWS), restored: { takenAtMs: 150, atMs: 0 } };
  for (let atMs = 255; atMs <= 275; atMs += 1) {
    const simulation = new Simulation({ ...slow, restored: { takenAtMs: 150, atMs } });
    const { violations, world } = await simulation.run();
    assert.deepEqual([atMs, violations], [atMs, []]);
    const [first] = world.processes.values();
    if (first === undefined || !first.alive || world.named('app')?.activation === first.id) continue;
    assert.match(JSON.stringify(simulation.engine?.incidents()), /runs as admitted, and the lease row names act-/);
    // Rows that cannot be read for a while say nothing else (I10): the incident stays open all the time.
    const unreadable = [{ what: 'lease' as const, target: 'app', fromMs: 4_000, untilMs: 12_000 }];
    const blind = await new Simulation({ ...slow, restored: { takenAtMs: 150, atMs }, unreadable }).run();
    assert.deepEqual(blind.violations, []);
    const told = blind.world.ledger.of('told-incident').filter(({ code }) => code === 'lease-row-unexpected');
    assert.deepEqual(
      told.map(({ open }) => open),
      [true],
    );
    return;
  }
  assert.fail('the first was never seen to drain');
});

test('I1, F16: what newer records had begun to end is left beside a restart that is held', async () => {
  let left = 0;
  for (let atMs = 262; atMs <= 290; atMs += 2) {
    const [first, second] = twoDeploys('good', ROWS).deploys;
    assert.ok(first && second);
    const deploys = [{ ...first, behaviour: 'forks-a-writer' as const }, second];
    const scenario = { ...twoDeploys('good', ROWS), deploys, restored: { takenAtMs: 150, atMs } };
    const { violations, world } = await new Simulation(scenario).run();
    assert.deepEqual([atMs, violations], [atMs, []]);
    left += [...world.processes.values()].filter(({ treeLives }) => treeLives).length > 2 ? 1 : 0;
  }
  assert.ok(left > 0, 'a child was left');
});

test('I1, I10: over whom newer records admitted with its row in another place, older ones take no lease', async () => {
  let held = 0;
  for (let takenAtMs = 40; takenAtMs <= 90; takenAtMs += 2) {
    const simulation = new Simulation({ ...putBackElsewhere, restored: { takenAtMs, atMs: 1_000 } });
    const { violations, results } = await simulation.run();
    assert.deepEqual([takenAtMs, violations], [takenAtMs, []]);
    if (results.some((result) => result?.refusal?.code === 'unrecorded-process')) held += 1;
  }
  assert.ok(held > 0, 'nothing was held');
});

test('I12: what went with its records is ordered again, though the engine that finds the older ones dies', async () => {
  // Each dies in the moment in which its start has ended and nobody has asked it anything.
  for (const seed of [6_221_423, 6_724_644]) {
    const { results, violations } = await run(scenarioOf(seed));
    assert.deepEqual([seed, violations, results.includes(null)], [seed, [], false]);
  }
});

test('I1: a first deployment that is given back takes the lease from nobody whom its records do not know', async () => {
  let stuck = 0;
  for (let takenAtMs = 70; takenAtMs <= 120; takenAtMs += 5) {
    const scenario: Scenario = {
      ...CALM,
      seed: 1,
      shapes: { app: GATED },
      deploys: [{ target: 'app', atMs: 10, behaviour: 'good', revision: 1 }],
      kills: [{ target: 'app', atMs: 300 }],
      restored: { takenAtMs, atMs: 600 },
    };
    const simulation = new Simulation(scenario);
    const { violations, results, world } = await simulation.run();
    assert.deepEqual([takenAtMs, violations], [takenAtMs, []]);
    if (results[0]?.outcome !== 'operator-required') continue;
    stuck += 1;
    assert.equal(results[0].refusal?.code, 'lease-row-unexpected');
    assert.equal(world.processes.get(world.named('app')?.activation ?? '')?.alive, true);
    const told = simulation.engine?.incidents().map(({ code }) => code) ?? [];
    assert.ok(told.includes('lease-row-unexpected'), told.join());
  }
  assert.ok(stuck > 2, `${stuck} runs were put back within their handover`);
});

test('I10: a restart that is held by somebody’s row stays told as that while the row cannot be read', async () => {
  const simulation = new Simulation({
    ...twoDeploys('good', ROWS),
    restored: { takenAtMs: 150, atMs: 700 },
    unreadable: [{ what: 'lease', target: 'app', fromMs: 5_000, untilMs: 15_000 }],
  });
  const { violations, world } = await simulation.run();
  assert.deepEqual(violations, []);
  assert.deepEqual(
    world.ledger.of('told-incident').map(({ code, open }) => `${code} ${open ? 'opened' : 'closed'}`),
    ['lease-row-unexpected opened', 'claim-unreadable opened', 'claim-unreadable closed'],
  );
});

for (const [what, shape] of [
  ['behind a gate', GATED],
  ['that compares rows', ROWS],
  ['that cannot overlap', ALONE],
] as const) {
  test(`I1, I7, I9: a spare ${what} that newer records launched serves on, and comes back once it dies`, async () => {
    const once = { ...diesOnce('good', shape), restored: { takenAtMs: 600, atMs: 2_000 } };
    const simulation = new Simulation(once);
    const { violations, world } = await simulation.run();
    assert.deepEqual(violations, []);
    const serving = world.named('app')?.activation ?? '';
    assert.deepEqual([...world.processes.keys()].at(-1), serving);
    assert.equal(world.processes.get(serving)?.alive, true);
    assert.match(JSON.stringify(simulation.engine?.incidents()), /which was only kept for the next restart/);
    const twice = new Simulation({ ...once, kills: [...once.kills, { target: 'app', atMs: 9_000 }] });
    const later = await twice.run();
    assert.deepEqual(later.violations, []);
    const back = later.world.named('app')?.activation ?? '';
    assert.ok(back !== serving && later.world.processes.get(back)?.alive === true, 'by a launch of these records');
    assert.deepEqual(twice.engine?.incidents(), []);
    // A spare of an earlier boot is launched no more, and the row that names it is still one of ours.
    const rebooted = await new Simulation({ ...once, reboots: [{ atMs: 2_200 }] }).run();
    assert.deepEqual(rebooted.violations, []);
    const after = rebooted.world.named('app')?.activation ?? '';
    assert.ok(after !== serving && rebooted.world.processes.get(after)?.alive === true, 'by a launch of this boot');
  });
}

for (const [what, shape, code] of [
  ['that compares rows', ROWS, 'wrote-before-lease'],
  ['behind a gate', GATED, 'ran-before-grant'],
  ['that cannot overlap', ALONE, 'wrote-before-lease'],
] as const) {
  test(`I10: a program ${what} that newer records granted ends as ${code}, and nobody is left named`, async () => {
    let ended = 0;
    for (let takenAtMs = 52; takenAtMs <= 92; takenAtMs += 4) {
      for (const atMs of [5, 10, 25, 40].map((laterMs) => takenAtMs + laterMs)) {
        const simulation = new Simulation({ ...twoDeploys('good', shape), restored: { takenAtMs, atMs } });
        const { violations, results, world } = await simulation.run();
        assert.deepEqual([takenAtMs, atMs, violations], [takenAtMs, atMs, []]);
        if (results[0]?.refusal?.code !== code) continue;
        ended += 1;
        assert.equal(results[0].outcome, 'rolled-back');
        const told = world.ledger.of('told-ended').find((one) => one.code === code);
        assert.deepEqual([told?.row, told?.route], ['nobody', []]);
        assert.equal(results[1]?.outcome, 'admitted');
      }
    }
    assert.ok(ended > 1, `${ended} runs were put back within their handover`);
  });
}

for (const stores of [0, 1]) {
  test(`I1: over ${stores} stores, nothing starts beside a launch that older records know nothing of`, async () => {
    const within = putBackWithin({ stores });
    const simulation = new Simulation(within);
    const { violations, world } = await simulation.run();
    assert.deepEqual(violations, []);
    const unknown = world.ledger.of('started').at(-1);
    assert.ok(unknown !== undefined && unknown.atMs < (world.ledger.of('restored')[0]?.atMs ?? 0), 'it is the last');
    const told = JSON.stringify(simulation.engine?.incidents().filter(({ code }) => code === 'unrecorded-process'));
    assert.match(told, new RegExp(`${unknown.activation}, which runs as process [0-9]+`));
    const ended = new Simulation({ ...within, kills: [{ target: 'app', atMs: 9_000 }] });
    const later = await ended.run();
    assert.deepEqual(later.violations, []);
    const living = [...later.world.processes.values()].filter(({ alive }) => alive);
    assert.deepEqual([living.length, living[0]?.state], [1, 'active'], 'once it was ended by hand, what waits goes on');
    assert.deepEqual(ended.engine?.incidents(), []);
  });
}

test('I1, I10: a spare that newer records launched lives on, whatever a driver misreads in its row', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const once = { ...diesOnce('good', ROWS), seed, restored: { takenAtMs: 600, atMs: 2_000 }, wrongChance: 0.1 };
    const { violations, world } = await new Simulation(once).run();
    assert.deepEqual([seed, violations], [seed, []]);
    const [back] = world.ledger.of('restored');
    const ended = world.ledger.of('ended').filter(({ atMs, asked }) => asked && atMs > (back?.atMs ?? 0));
    assert.ok(ended.every(({ activation }) => activation !== world.named('app')?.activation));
  }
});

test('I9: of a program that keeps no state a spare that newer records launched is taken up as it runs', async () => {
  const shape = { stores: 0, routed: true };
  const simulation = new Simulation({ ...diesOnce('good', shape), restored: { takenAtMs: 600, atMs: 2_000 } });
  const { violations, world } = await simulation.run();
  assert.deepEqual(violations, []);
  const last = world.ledger.of('started').at(-1)?.activation ?? '';
  assert.deepEqual(world.ledger.of('told-restored').at(-1)?.route, [last]);
  assert.ok((world.ledger.of('told-restored').at(-1)?.atMs ?? 0) > (world.ledger.of('restored')[0]?.atMs ?? 0));
  assert.equal(world.processes.get(last)?.alive, true);
});

test('I9: restarts that went with their records count for none of the six that page', async () => {
  const kills = [900, 7_000, 20_000, 40_000, 80_000, 170_000, 340_000].map((atMs) => ({ target: 'app', atMs }));
  const simulation = new Simulation({ ...diesOnce('good', ROWS), kills, restored: { takenAtMs: 500, atMs: 7_400 } });
  const { violations, world } = await simulation.run();
  assert.deepEqual(violations, []);
  const backMs = world.ledger.of('restored')[0]?.atMs ?? 0;
  assert.ok(world.ledger.of('started').filter(({ atMs }) => atMs < backMs).length > 1, 'one was restarted before');
  assert.ok(world.ledger.of('told-incident').some(({ code, open }) => code === 'restarted-too-often' && open));
});

test('I9: of a program that keeps no state, what older records admitted is brought back and routed', async () => {
  const shape = { stores: 0, routed: true };
  const simulation = new Simulation({ ...twoDeploys('good', shape), restored: { takenAtMs: 150, atMs: 700 } });
  const { violations, world } = await simulation.run();
  assert.deepEqual(violations, []);
  const newer = world.ledger.of('started')[1]?.activation ?? '';
  const back = world.ledger.of('told-restored').at(-1)?.route ?? [];
  assert.ok(back.length === 1 && !back.includes(newer), back.join());
  assert.equal(world.processes.get(back[0] ?? '')?.alive, true);
});

test('I1, I5: whenever records are put back, and whatever befalls the programs, nothing older is granted', async () => {
  let held = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const roll = dice(seed);
    const shape = roll.pick([GATED, ROWS, ALONE, { ...ROWS, stores: 2 }, { ...ROWS, stores: 2, mixed: true }]);
    const calm = twoDeploys(roll.pick(['good', 'good', 'exits-after-grant', 'never-active']), shape);
    const takenAtMs = roll.between(5, 1_200);
    const simulation = new Simulation({
      ...calm,
      seed,
      deploys: calm.deploys.map((one, at) => (at === 0 ? one : { ...one, atMs: roll.between(200, 1_500) })),
      kills: Array.from({ length: roll.between(0, 3) }, () => ({ target: 'app', atMs: roll.between(150, 6_000) })),
      restored: { takenAtMs, atMs: takenAtMs + roll.between(5, 2_000) },
    });
    const { violations } = await simulation.run();
    assert.deepEqual([seed, violations], [seed, []]);
    if (simulation.engine?.incidents().some(({ code }) => code === 'lease-row-unexpected') === true) held += 1;
  }
  assert.ok(held > 5, `${held} runs were held`);
});
