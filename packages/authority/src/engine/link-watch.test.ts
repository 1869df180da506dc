import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Helper, LinkPort, LinkStanding } from '../ports/link-port.ts';
import type { EngineCore } from './core.ts';
import { LinkWatch } from './link-watch.ts';
import { incidentBench } from './testing/incident-bench.ts';

const UP: LinkStanding = { kind: 'up' };
const DOWN: LinkStanding = { kind: 'down', because: 'connect ECONNREFUSED' };

/** A link whose standing the test says. */
class SaidLink implements LinkPort {
  #standing: LinkStanding = { kind: 'trying' };
  readonly #listeners: (() => void)[] = [];

  standing = (): LinkStanding => this.#standing;
  onStanding = (listener: () => void): void => void this.#listeners.push(listener);

  say(standing: LinkStanding): void {
    this.#standing = standing;
    for (const tell of this.#listeners) tell();
  }
}

function bench() {
  const incidents = incidentBench();
  let observed = true;
  /** A daemon with links of its own, as it begins. */
  async function daemon(diesAt = Number.POSITIVE_INFINITY) {
    const life = incidents.daemon({ diesAt });
    const links = { observer: new SaidLink(), router: new SaidLink(), attendant: new SaidLink() };
    await life.begin();
    const core = { ports: { links }, incidents: life.book, stopped: false } as unknown as EngineCore;
    const watch = new LinkWatch(core, () => observed);
    watch.start();
    const open = (): string[] => life.book.all().map(({ subject, code }) => `${subject} ${code}`);
    return { ...links, life, watch, open };
  }
  const observe = (is: boolean): void => {
    observed = is;
  };
  return { ...incidents, daemon, observe };
}

for (const helper of ['observer', 'router', 'attendant'] as const satisfies Helper[]) {
  const code = `${helper}-unreachable`;

  test(`the loss of the ${helper} is an incident of the fleet that closes by itself; a short one is none`, async () => {
    const { daemon, pass, told, history } = bench();
    const { open, life, ...links } = await daemon();
    links[helper].say(UP);
    links[helper].say(DOWN);
    await pass(500);
    links[helper].say(UP);
    await pass(5_000);
    assert.deepEqual(told, []);
    links[helper].say(DOWN);
    await pass(1_500);
    assert.deepEqual([open(), life.book.all()[0]?.detail], [[`_fleet ${code}`], 'connect ECONNREFUSED']);
    links[helper].say(UP);
    await pass(4_000);
    assert.deepEqual([open(), told], [[], [`opened ${code}`, `closed ${code}`]]);
    assert.deepEqual(
      history.map(({ kind, subject }) => [kind, subject]),
      [
        ['incident.opened', '_fleet'],
        ['incident.closed', '_fleet'],
      ],
    );
  });

  test(`I6, I10: whenever the daemon dies, the loss of the ${helper} is one incident`, async () => {
    for (let diesAt = 1, died = true; died; diesAt += 1) {
      const { daemon, pass, arrived, records, history } = bench();
      const first = await daemon(diesAt);
      first[helper].say(DOWN);
      await pass(2_000);
      first[helper].say(UP);
      await pass(4_000);
      ({ died } = first.life);
      const isOpen = history.at(-1)?.kind === 'incident.opened';
      const second = await daemon();
      await pass(20_000);
      assert.deepEqual(second.open(), isOpen ? [`_fleet ${code}`] : [], `it died at step ${diesAt}`);
      second[helper].say(UP);
      await pass(5_000);
      assert.deepEqual([second.open(), records.size], [[], 0], `it died at step ${diesAt}`);
      const ids = new Set(arrived.map(({ incident, state }) => `${incident} ${state}`));
      assert.deepEqual([...ids], diesAt === 1 ? [] : ['inc-1 opened', 'inc-1 closed'], `it died at step ${diesAt}`);
    }
  });
}

test('I10: what was not needed yet, and an observer that was never admitted, are no loss', async () => {
  const { daemon, pass, observe, told } = bench();
  observe(false);
  const { observer, attendant, watch, open } = await daemon();
  attendant.say({ kind: 'untried' });
  observer.say(DOWN);
  await pass(10_000);
  assert.deepEqual(told, []);
  observe(true);
  watch.look();
  await pass(1_500);
  assert.deepEqual(open(), ['_fleet observer-unreachable']);
});

test('an attendant that nobody needs any more is no loss for the next daemon', async () => {
  const { daemon, pass } = bench();
  const first = await daemon();
  first.attendant.say(DOWN);
  await pass(2_000);
  assert.deepEqual(first.open(), ['_fleet attendant-unreachable']);
  const second = await daemon();
  second.attendant.say({ kind: 'untried' });
  await pass(5_000);
  assert.deepEqual(second.open(), []);
});
