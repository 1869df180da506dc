import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeTime } from '@idunn/kernel/testing';
import { MAX_LINE_BYTES } from '@idunn/readiness';
import { audience, foreignKey, sampleWorkload } from '@idunn/readiness/testing';
import { REFRESH_MS } from './limits.ts';
import { openTold, signedLine, World } from './testing/world.ts';

const ghost = sampleWorkload({ target: 'ghostlight', freshnessMs: 5_000 });

async function published(): Promise<World> {
  const world = await World.open();
  await world.publish(ghost);
  return world;
}

test('I4: Present is told with the presence, and Ready once it is active and agrees', async () => {
  const world = await published();
  assert.equal(world.hear(ghost.line(1, { state: 'warming', epoch: null })), 'accepted');
  assert.deepEqual(world.news(), [{ kind: 'present', state: 'warming', fresh: true, codes: [] }]);
  assert.equal(world.hear(ghost.line(2)), 'accepted');
  assert.deepEqual(world.news(), [
    { kind: 'present', state: 'active', fresh: true, codes: [] },
    { kind: 'ready', epoch: 1, sequence: 2 },
  ]);
});

test('I4: an activation that was not published establishes nothing, whoever signs for it', async () => {
  const world = await World.open();
  assert.equal(world.hear(ghost.line(1)), 'early');
  assert.deepEqual(world.news(), []);
  const { target, anchor, key, expected } = ghost;
  await world.request({ kind: 'anchor', target, keys: [anchor] });
  await world.request({ kind: 'publish-expected', incarnation: key, expected });
  assert.equal(world.hear(ghost.line(2)), 'early');
  assert.deepEqual(world.news(), []);
});

test('I4: swapped keys, a foreign signer and another target’s signer are refused', async () => {
  const world = await published();
  const other = sampleWorkload({ target: 'almanac' });
  const { activationKey, signerKey } = ghost;
  const said = ghost.says(1);
  const swapped = { ...said, header: { ...said.header, issuer: signerKey.keyId } };
  const lines = [
    signedLine(said, [activationKey, foreignKey]),
    signedLine(said, [activationKey, other.signerKey]),
    signedLine(said, [foreignKey, signerKey]),
    signedLine(said, [activationKey]),
  ];
  for (const line of lines) assert.equal(world.hear(line), 'envelope-not-signed');
  assert.equal(world.hear(signedLine(swapped, [signerKey, activationKey])), 'envelope-wrong-issuer');
  assert.deepEqual(world.news(), []);
});

test('I5: a presence of another fleet, machine, earlier launch or earlier sequence is worth nothing', async () => {
  const world = await published();
  const keys = [ghost.activationKey, ghost.signerKey];
  for (const elsewhere of [{ fleet: 'other' }, { machine: 'other' }]) {
    const said = ghost.says(1);
    const header = { ...said.header, audience: { ...audience, ...elsewhere } };
    assert.equal(world.hear(signedLine({ ...said, header }, keys)), 'envelope-wrong-audience');
  }
  assert.equal(world.hear(ghost.line(5)), 'accepted');
  world.news();
  for (const sequence of [5, 4]) assert.equal(world.hear(ghost.line(sequence)), 'presence-replayed');
  const next = sampleWorkload({ target: 'ghostlight', freshnessMs: 5_000, launch: 2 });
  const { activation, observed } = next;
  assert.equal(await world.request({ kind: 'publish-activation', activation, observed }), null);
  assert.equal(world.hear(ghost.line(6)), 'early');
  assert.deepEqual(world.news(), []);
});

test('I7: a candidate of the same build is given up, and the incumbent is Ready again at once', async () => {
  const world = await published();
  world.hear(ghost.line(3));
  const candidate = sampleWorkload({ target: 'ghostlight', freshnessMs: 5_000, launch: 2 });
  const { activation, observed } = candidate;
  await world.request({ kind: 'publish-activation', activation, observed });
  world.hear(candidate.line(1, { state: 'failed' }));
  await world.request({ kind: 'demote', incarnation: ghost.key, activation: activation.activation });
  world.news();
  await world.request({ kind: 'publish-activation', activation: ghost.activation, observed: ghost.observed });
  assert.deepEqual(world.news(), [
    { kind: 'present', state: 'active', fresh: true, codes: [] },
    { kind: 'ready', epoch: 1, sequence: 3 },
  ]);
  assert.equal(world.hear(ghost.line(3)), 'presence-replayed');
  assert.deepEqual([...world.trails.keys()], [ghost.activation.activation]);
  await world.request({ kind: 'withdraw', incarnation: ghost.key });
  assert.deepEqual([...world.trails.keys()], []);
});

test('I5: an observer that was killed refuses the replay still, and takes the next presence', async () => {
  const killed = await published();
  killed.hear(ghost.line(7));
  const world = await World.open(killed);
  assert.equal(world.hear(ghost.line(7)), 'presence-replayed');
  assert.deepEqual(world.news(), []);
  assert.equal(world.hear(ghost.line(8)), 'accepted');
  assert.deepEqual(
    world.news().map(({ kind }) => kind),
    ['present', 'ready'],
  );
});

test('I5: statements of a later run have higher sequences than those of an earlier one', async () => {
  const first = await published();
  first.hear(ghost.line(1));
  const before = first.told.map((line) => openTold(line).statementSequence);
  const second = await World.open(first);
  second.hear(ghost.line(2));
  const after = second.told.map((line) => openTold(line).statementSequence);
  assert.ok(Math.max(...before) < Math.min(...after));
});

test('I5: an activation of another boot is void, whatever was published', async () => {
  const world = await published();
  world.hear(ghost.line(1));
  const rebooted = await World.open(world, new FakeTime('boot-2'));
  assert.equal(rebooted.hear(ghost.line(2)), 'early');
});

test('I5: a request of the authority counts once, also after a restart', async () => {
  const world = await published();
  const demote = { kind: 'demote', incarnation: ghost.key, activation: ghost.activation.activation } as const;
  assert.equal(await world.request(demote, 3), 'request-replayed');
  const restarted = await World.open(world);
  assert.equal(await restarted.request(demote, 3), 'request-replayed');
  assert.equal(restarted.hear(ghost.line(1)), 'accepted');
});

test('I4: a disagreement is told by code, withdraws readiness, and heals only by a new word', async () => {
  const world = await published();
  world.hear(ghost.line(1));
  world.news();
  world.hear(ghost.line(2, { pid: 4712 }));
  assert.deepEqual(world.news(), [
    { kind: 'present', state: 'active', fresh: true, codes: ['runtime-identity-mismatch'] },
  ]);
  world.hear(ghost.line(3));
  assert.deepEqual(
    world.news().map(({ kind }) => kind),
    ['present', 'ready'],
  );
});

test('I4: what the driver observes anew is held against the presence at once', async () => {
  const world = await published();
  world.hear(ghost.line(1));
  world.news();
  const observed = { ...ghost.observed, identity: { ...ghost.observed.identity, pid: 1 } };
  await world.request({ kind: 'publish-activation', activation: ghost.activation, observed });
  assert.deepEqual(world.news(), [
    { kind: 'present', state: 'active', fresh: true, codes: ['runtime-identity-mismatch'] },
  ]);
});

test('I5: a presence that is not renewed goes stale by itself and takes readiness with it', async () => {
  const world = await published();
  world.hear(ghost.line(1));
  world.time.pass(4_000);
  world.hear(ghost.line(2));
  world.news();
  world.time.pass(4_999);
  assert.deepEqual(
    world.news().map(({ kind }) => kind),
    ['refresh'],
  );
  world.time.pass(2);
  assert.deepEqual(world.news(), [{ kind: 'present', state: 'active', fresh: false, codes: [] }]);
  assert.equal(world.time.pending, 0);
  world.hear(ghost.line(3));
  assert.deepEqual(world.news(), [
    { kind: 'present', state: 'active', fresh: true, codes: [] },
    { kind: 'ready', epoch: 1, sequence: 3 },
  ]);
});

test('presences that change nothing are told together, once in a while', async () => {
  const world = await World.open();
  const many = Array.from({ length: 200 }, (_, index) => sampleWorkload({ target: `target-${index}` }));
  for (const one of many) {
    await world.publish(one);
    world.hear(one.line(1));
  }
  world.news();
  for (const one of many) world.hear(one.line(2));
  assert.deepEqual(world.news(), []);
  world.time.pass(REFRESH_MS);
  const batches = world.news();
  assert.equal(batches.length, 2);
  const standings = batches.flatMap((told) => (told.kind === 'refresh' ? told.standings : []));
  assert.equal(standings.length, 200);
  assert.ok(standings.every(({ present, ready }) => present?.presenceSequence === 2 && ready?.presenceSequence === 1));
});

test('a new epoch is a new receipt', async () => {
  const world = await published();
  world.hear(ghost.line(1));
  world.news();
  world.hear(ghost.line(2, { epoch: 2 }));
  assert.deepEqual(world.news(), [
    { kind: 'present', state: 'active', fresh: true, codes: [] },
    { kind: 'ready', epoch: 2, sequence: 2 },
  ]);
  assert.equal(world.hear(ghost.line(3, { epoch: 1 })), 'presence-epoch-fell');
});

test('I7: a candidate beside the incumbent has its own key; withdrawing it touches nothing else', async () => {
  const world = await published();
  const candidate = sampleWorkload({ target: 'ghostlight', freshnessMs: 5_000, revision: 'r2' });
  await world.publish(candidate);
  world.hear(ghost.line(1));
  world.hear(candidate.line(1, { state: 'warming', epoch: null }));
  world.news();
  await world.request({ kind: 'withdraw', incarnation: candidate.key });
  assert.equal(world.hear(candidate.line(2)), 'early');
  assert.equal(world.hear(ghost.line(2)), 'accepted');
  const roster = world.observer.roster().map(openTold);
  const standings = roster.flatMap((told) => ('standings' in told ? told.standings : []));
  assert.deepEqual(
    standings.map(({ incarnation, ready }) => [incarnation, ready?.epoch]),
    [[ghost.key, 1]],
  );
});

test('I4: a signer that is no longer enrolled vouches for nothing, at once', async () => {
  const world = await published();
  world.hear(ghost.line(1));
  world.news();
  const stranger = sampleWorkload({ target: 'stranger' }).anchor;
  assert.equal(await world.request({ kind: 'anchor', target: 'ghostlight', keys: [stranger] }), null);
  assert.equal(world.hear(ghost.line(2)), 'early');
  world.time.pass(REFRESH_MS);
  const [refresh] = world.news();
  assert.ok(refresh?.kind === 'refresh' && refresh.standings[0]?.ready === null);
  // Enrolled again, the activation goes on from where it was, not from the beginning.
  await world.request({ kind: 'anchor', target: 'ghostlight', keys: [stranger, ghost.anchor] });
  assert.equal(world.hear(ghost.line(1)), 'presence-replayed');
  assert.equal(world.hear(ghost.line(2)), 'accepted');
});

test('F28: when the store refuses a write, nothing is acknowledged and the observer ends', async () => {
  const world = await published();
  world.store.refuse = true;
  const { key, activation } = ghost;
  void world.request({ kind: 'demote', incarnation: key, activation: activation.activation });
  await new Promise(setImmediate);
  assert.equal(world.failures.length, 1);
  const restarted = await World.open(world);
  assert.equal(restarted.hear(ghost.line(1)), 'accepted');
});

test('a roster names every incarnation, the bare ones too, and ends', async () => {
  const world = await World.open();
  const { target, anchor, key, expected } = ghost;
  assert.deepEqual(
    world.observer.roster().map((line) => openTold(line).kind),
    ['roster-end'],
  );
  await world.request({ kind: 'anchor', target, keys: [anchor] });
  await world.request({ kind: 'publish-expected', incarnation: key, expected });
  const [end] = world.observer.roster().map(openTold);
  assert.ok(end?.kind === 'roster-end');
  assert.deepEqual(end.standings, [
    { incarnation: key, activation: null, present: null, ready: null, disagreements: [] },
  ]);
});

test('whatever the workloads claim, no line of a roster is longer than a line may be', async () => {
  const world = await World.open();
  const long = 'x'.repeat(190);
  const claims = Array.from({ length: 64 }, (_, index) => ({ name: `${long}${index}`, schema: long }));
  for (let index = 0; index < 150; index++) {
    const hostile = sampleWorkload({ target: `${'t'.repeat(100)}${index}` });
    await world.publish(hostile);
    const lie = {
      capabilities: claims,
      stateSchema: long,
      endpoint: { host: long, port: 1 },
      target: 'y'.repeat(120),
      pid: 1,
    };
    assert.equal(world.hear(hostile.line(1, lie)), 'accepted');
  }
  const lines = world.observer.roster();
  assert.ok(lines.length > 2);
  assert.ok(lines.every((line) => line.length - 1 <= MAX_LINE_BYTES));
  const standings = lines.map(openTold).flatMap((told) => ('standings' in told ? told.standings : []));
  assert.equal(standings.length, 150);
  assert.ok(standings.every(({ disagreements }) => disagreements.length >= 5));
});
