import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, type HistoryEntry } from '@idunn/kernel';
import { FakeEngine } from '../testing/fake-parts.ts';
import { CLOSED_LIMIT, readIncidents } from './incidents.ts';

const AT = '2026-11-30T09:00:00.000Z';

/** Every third entry closes an incident: of `app`, and of `other` in between. */
const entries = Array.from({ length: 3 * 2 * (CLOSED_LIMIT + 1) }, (_, index) => ({
  sequence: index + 1,
  subject: index % 2 === 0 ? 'app' : 'other',
  kind: index % 3 === 0 ? 'incident.closed' : 'incident.opened',
  atMs: Date.parse(AT) + index,
  body: { incident: `inc-${index}`, code: 'restarted-too-often', detail: 'six times', since: AT, told: true },
})) as unknown as readonly HistoryEntry[];

type Asked = { subject?: string; after?: number; limit?: number };

const store = {
  history: ({ subject, after = Number.POSITIVE_INFINITY, limit = 100 }: Asked) =>
    Promise.resolve(
      entries
        .filter((entry) => (subject === undefined || entry.subject === subject) && entry.sequence < after)
        .toReversed()
        .slice(0, limit),
    ),
};

class Engine extends FakeEngine {
  override incidents = () =>
    ['app', 'other'].map((subject) => ({
      id: `inc-${subject}`,
      code: 'operator-required',
      subject,
      since: AT,
      detail: 'it can neither finish nor return',
      remedy: catalogue['operator-required'].remedy,
      told: false,
    }));
}

test('what is open is told of the fleet or of one target, and what is over only when it is asked for', async () => {
  const ids = async (options: { subject?: string; all: boolean }): Promise<string[]> =>
    (await readIncidents(store, new Engine(), options)).map(({ id }) => id);
  assert.deepEqual(await ids({ all: false }), ['inc-app', 'inc-other']);
  assert.deepEqual(await ids({ subject: 'other', all: false }), ['inc-other']);
  const all = await readIncidents(store, new Engine(), { subject: 'app', all: true });
  assert.equal(all.length, CLOSED_LIMIT + 1, 'the newest of those that are over, and the open one');
  assert.deepEqual(all.at(-1)?.closedAt, null);
  assert.deepEqual(all[0], {
    id: 'inc-6',
    code: 'restarted-too-often',
    subject: 'app',
    since: AT,
    closedAt: '2026-11-30T09:00:00.006Z',
    detail: 'six times',
    remedy: catalogue['restarted-too-often'].remedy,
    told: true,
  });
  assert.ok(all.every(({ subject }) => subject === 'app'));
});
