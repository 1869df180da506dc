import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts } from '../../scripts/lib/fleet-files.mjs';
import { type Fleet, makeFleet } from './lib/fleet.ts';

interface Told {
  readonly id: string;
  readonly notice: { readonly state: string; readonly code: string; readonly target: string; readonly at: string };
}

/** A webhook that comes and goes on one port. */
async function receiver(t: TestContext) {
  const { from: port } = await freePorts(randomInt(400));
  const told: Told[] = [];
  let happened = Promise.withResolvers<void>();
  let leave = async (): Promise<void> => {};
  t.after(() => leave());
  return {
    url: `http://127.0.0.1:${port}/idunn`,
    told,
    leave: () => leave(),
    async come(): Promise<void> {
      const server = createServer((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          told.push({ id: String(request.headers['webhook-id']), notice: JSON.parse(body) });
          response.writeHead(204, { connection: 'close' }).end();
          happened.resolve();
        });
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      leave = async () => {
        leave = async () => {};
        await new Promise((resolve) => server.close(resolve));
      };
    },
    /** The first notice of an incident in that state. */
    async got(state: string, incident?: string): Promise<Told> {
      for (;;) {
        const found = told.find(
          ({ id, notice }) => notice.state === state && (incident === undefined || id === `${incident}-${state}`),
        );
        if (found !== undefined) return found;
        await happened.promise;
        happened = Promise.withResolvers();
      }
    },
  };
}

async function closedAt(fleet: Fleet, incident: string): Promise<string | null> {
  for (;;) {
    const answer = await fleet.client.incidents({ all: true });
    assert.ok(answer.ok);
    const found = answer.value.incidents.find(({ id }) => id === incident);
    assert.ok(found);
    if (found.closedAt !== null) return found.closedAt;
  }
}

/** A notice that is lost is waited for no longer. */
const LIMIT = { timeout: 120_000 };

test(
  'an incident that ended while nobody took notices is told by the next daemon, after one was killed',
  LIMIT,
  async (t) => {
    const fleet = await makeFleet(t);
    const pager = await receiver(t);
    await appendFile(join(fleet.directory, 'fleet.toml'), `\n[[notify]]\nid = "pager"\nwebhook = "${pager.url}"\n`);
    const freeze = join(fleet.work, 'state/freezes/ghostlight.json');
    await mkdir(join(fleet.work, 'state/freezes'), { recursive: true, mode: 0o700 });
    await writeFile(freeze, 'no record');
    await pager.come();
    let pid = await fleet.daemon();
    const opened = await pager.got('opened');
    assert.deepEqual([opened.notice.code, opened.notice.target], ['stop-unreadable', 'ghostlight']);
    const incident = opened.id.replace(/-opened$/, '');

    await pager.leave();
    await rm(freeze);
    const over = await closedAt(fleet, incident);
    process.kill(pid, 'SIGKILL');
    await pager.come();
    assert.deepEqual(
      pager.told.map(({ id }) => id),
      [opened.id],
    );
    pid = await fleet.daemon();
    const closed = await pager.got('closed', incident);
    assert.deepEqual([closed.notice.at, closed.notice.code], [over, 'stop-unreadable']);

    // The same of an opening, and of one that is over again before anybody could be told.
    await pager.leave();
    await writeFile(freeze, 'no record either');
    let second: string | undefined;
    while (second === undefined) {
      const answer = await fleet.client.incidents();
      assert.ok(answer.ok);
      second = answer.value.incidents.find(({ code }) => code === 'stop-unreadable')?.id;
    }
    await rm(freeze);
    await closedAt(fleet, second);
    process.kill(pid, 'SIGKILL');
    await pager.come();
    await fleet.daemon();
    await pager.got('closed', second);
    assert.deepEqual(
      [...new Set(pager.told.map(({ id }) => id))],
      [incident, second].flatMap((id) => [`${id}-opened`, `${id}-closed`]),
    );
  },
);
