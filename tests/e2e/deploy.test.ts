import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { engineEvent, history, inspect, plan, status } from '@idunn/client/schemas';
import { makeFleet } from './lib/fleet.ts';
import { type Event, journal, json, type VersionAnswer, writers } from './lib/world.ts';

const GENESIS = `sha256:${'0'.repeat(64)}`;

/** Every event is present once, each hash follows from the one before, and epochs only rise (I1). */
function assertChain(events: readonly (Event & { text: string })[]): void {
  let previous = GENESIS;
  let epoch = 0;
  for (const [index, event] of events.entries()) {
    const { seq, id, text } = event;
    assert.equal(seq, index + 1);
    const hash = createHash('sha256')
      .update(JSON.stringify([previous, seq, id, text, event.epoch]))
      .digest('hex');
    assert.equal(event.hash, `sha256:${hash}`);
    assert.ok(event.epoch >= epoch, `epoch ${event.epoch} at ${seq} after ${epoch}`);
    previous = event.hash;
    ({ epoch } = event);
  }
}

test('from a commit to an admitted, writing, serving process, and on to the next under load', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();

  await t.test('the plan is printed whole and touches nothing', async () => {
    const ran = await fleet.idunn('plan', 'ghostlight', '--json');
    assert.equal(ran.code, 0, ran.out + ran.err);
    const printed: unknown = JSON.parse(ran.out);
    assert.deepEqual(plan.parse(printed), printed);
    const before = JSON.parse((await fleet.idunn('status', 'ghostlight', '--json')).out) as { targets: unknown[] };
    assert.equal((before.targets[0] as { health: string }).health, 'never-run');
  });

  await t.test('the first up is admitted; its lines are documented events', async () => {
    const ran = await fleet.idunn('up', 'ghostlight', '--json');
    assert.equal(ran.code, 0, ran.out + ran.err);
    const events = ran.out
      .trimEnd()
      .split('\n')
      .map((line) => engineEvent.parse(JSON.parse(line)));
    const outcome = events.at(-1);
    assert.ok(outcome?.event === 'outcome' && outcome.outcome === 'admitted');
    const phases = new Set(events.flatMap((event) => (event.event === 'phase' ? [event.phase] : [])));
    for (const phase of ['planned', 'sealed', 'warming', 'fence-cleared']) assert.ok(phases.has(phase), phase);
  });

  await t.test('the process is what was sealed, and it serves through the stable route', async () => {
    const version = await json<VersionAnswer>(fleet.url, '/version');
    const ran = await fleet.idunn('status', '--json');
    const seen: unknown = JSON.parse(ran.out);
    const { foundBy, ...answer } = seen as { foundBy: string };
    assert.equal(foundBy, '--fleet');
    assert.deepEqual(status.parse(answer), answer);
    const view = status.parse(answer).targets.find(({ target }) => target === 'ghostlight');
    assert.equal(view?.health, 'healthy', JSON.stringify(view));
    assert.equal(view.admitted?.incarnation, version.incarnation);
    assert.equal(view.admitted.revision, version.revision);
    assert.deepEqual(view.admitted.processes, [{ pid: version.pid }]);
    assert.equal(view.lease?.state, 'held');
    assert.equal(view.lease.activation, view.admitted.activation);
    assert.deepEqual(
      view.route?.members.map(({ incarnation }) => incarnation),
      [version.incarnation],
    );
    const [shown] = view.incarnations;
    assert.equal(shown?.role, 'admitted');
    assert.equal(shown.present?.state, 'active');
    const age = Date.now() - Date.parse(shown.present.observedAt);
    assert.ok(Math.abs(age) < 120_000, `the presence is shown as ${age} ms old`);
    assert.ok(shown.ready);
  });

  await t.test('a second up of the same commit is unchanged', async () => {
    const { code, outcome } = await fleet.up('ghostlight');
    assert.equal(code, 0);
    assert.equal(outcome.outcome, 'unchanged');
  });

  await t.test(
    'I1, I7: the next commit is deployed under writers; nothing fails, nothing is lost or doubled',
    async () => {
      const load = writers(fleet.url, 4);
      const revision = await fleet.edit('package.json', (text) => text.replace('"1.0.0"', '"1.0.1"'));
      const { code, outcome } = await fleet.up('ghostlight');
      const { acked, failed } = await load.stop();
      assert.equal(code, 0, JSON.stringify(outcome));
      assert.equal(outcome.revision, revision);
      assert.deepEqual(failed.slice(0, 5), []);
      assert.ok(outcome.writeGapMs !== null, 'somebody wrote');
      assert.equal(outcome.requests.failed, 0);
      assert.equal((await json<VersionAnswer>(fleet.url, '/version')).version, '1.0.1');
      const events = (await journal(fleet.url)) as (Event & { text: string })[];
      assertChain(events);
      const kept = new Map(events.map((event) => [event.id, event]));
      assert.equal(kept.size, events.length);
      for (const event of acked) assert.equal(kept.get(event.id)?.hash, event.hash, `${event.id} was acknowledged`);
      assert.ok(new Set(acked.map(({ epoch }) => epoch)).size >= 2, 'both incarnations acknowledged writes');
    },
  );

  await t.test('F24: an operation id repeated returns the first outcome and runs nothing', async () => {
    await fleet.edit('package.json', (text) => text.replace('"1.0.1"', '"1.0.2"'));
    const first = await fleet.up('ghostlight', '--operation-id', 'release-2');
    assert.equal(first.code, 0, JSON.stringify(first.outcome));
    const again = await fleet.up('ghostlight', '--operation-id', 'release-2');
    assert.equal(again.outcome.transaction, first.outcome.transaction);
    assert.equal(again.outcome.outcome, first.outcome.outcome);
    const changed = await fleet.up('ghostlight', '--ref', 'refs/heads/main', '--operation-id', 'release-2');
    assert.equal(changed.code, 3);
    assert.equal(changed.outcome.refusal?.code, 'operation-conflict');
  });

  await t.test('history, inspect and logs answer in their documented shapes', async () => {
    const past: unknown = JSON.parse((await fleet.idunn('history', '--json', '-n', '500')).out);
    assert.deepEqual(history.parse(past), past);
    const view = status.parse(((await fleet.client.status()) as { value: unknown }).value);
    const admitted = view.targets.find(({ target }) => target === 'ghostlight')?.admitted;
    assert.ok(admitted);
    for (const id of ['ghostlight', admitted.release, admitted.incarnation]) {
      const ran = await fleet.idunn('inspect', id, '--json');
      assert.equal(ran.code, 0, ran.err);
      const shown: unknown = JSON.parse(ran.out);
      assert.deepEqual(inspect.parse(shown), shown);
    }
    const log = await fleet.idunn('logs', 'ghostlight');
    assert.match(log.out, /ghostlight 1\.0\.2 listens on/);
    const metrics = await fleet.client.metrics();
    assert.match(metrics.ok ? metrics.value : '', /idunn_target_health\{target="ghostlight",health="healthy"\} 1/);
  });

  await t.test('doctor finds nothing bad', async () => {
    const ran = await fleet.idunn('doctor', '--json');
    assert.equal(ran.code, 0, ran.out);
  });
});
