import { join } from 'node:path';
import { freePorts } from '../scripts/lib/fleet-files.mjs';
import { type Fleet, makeFleet } from '../tests/e2e/lib/fleet.ts';
import { type Death, firstWrite, killOnce } from './lib/deaths.ts';
import { hostPidOf } from './lib/host-pid.ts';
import { claim, type Proof, spread } from './lib/proof.ts';
import { addSiblings, MOST_SIBLINGS, type Sibling } from './lib/siblings.ts';
import { withScope } from './lib/stage.ts';
import { bootSystemd, type Systemd, whyNoSystemd } from './lib/systemd.ts';

/** Each with targets of its own: only the first restart of a target within ten minutes is at once. */
const FLEETS = 6;
const SPAWNED_P99_MS = 50;

export const proof: Proof = {
  name: 'restart',
  promise:
    'What was killed is spawned again within 50 ms, writes soon after, and its journal is the same to the last byte.',
  async run({ quick, note }) {
    const ours: Death[] = [];
    const theirs: Record<'default' | 'atOnce', Death[]> = { default: [], atOnce: [] };
    const skipped = whyNoSystemd();
    for (let round = 0; round < (quick ? 1 : FLEETS); round += 1) {
      await withScope(async (scope) => {
        const fleet = await makeFleet(scope);
        const siblings = await admitSiblings(fleet, quick ? 4 : MOST_SIBLINGS);
        for (const { target, url } of siblings) ours.push(await killOnce(url, target, ({ pid }) => pid));
        note(`round ${round + 1}: ${JSON.stringify(spread(ours.map(({ spawnedMs }) => spawnedMs)))}`);
        if (skipped !== null) return;
        const systemd = await bootSystemd(scope, { shared: [fleet.work, process.execPath], name: fleet.id });
        theirs.default.push(...(await bySystemd(fleet, systemd, 'default', siblings.length)));
        theirs.atOnce.push(...(await bySystemd(fleet, systemd, 'at-once', siblings.length)));
      });
    }
    if (skipped !== null) note(`no comparison with systemd: ${skipped}`);
    const all = [...ours, ...theirs.default, ...theirs.atOnce];
    const spawned = spread(ours.map(({ spawnedMs }) => spawnedMs));
    return {
      figures: {
        kills: ours.length,
        spawnedMs: spawned,
        servingMs: spread(ours.map(({ servingMs }) => servingMs)),
        sameDigest: ours.every(({ sameJournal }) => sameJournal),
        systemd: skipped === null ? 'compared' : `skipped: ${skipped}`,
        ...(skipped === null
          ? {
              systemdSpawnedMs: spread(theirs.default.map(({ spawnedMs }) => spawnedMs)),
              systemdServingMs: spread(theirs.default.map(({ servingMs }) => servingMs)),
              systemdAtOnceSpawnedMs: spread(theirs.atOnce.map(({ spawnedMs }) => spawnedMs)),
              systemdAtOnceServingMs: spread(theirs.atOnce.map(({ servingMs }) => servingMs)),
            }
          : {}),
      },
      claims: [
        claim('enough was killed', ours.length >= (quick ? 4 : 40)),
        claim(
          'every journal goes on where it was, digest for digest',
          all.every(({ sameJournal }) => sameJournal),
        ),
        // The machine of a quick run does other things as well: the aim is the whole proof's.
        ...(quick ? [] : [claim(`spawned within ${SPAWNED_P99_MS} ms (p99)`, spawned.p99 < SPAWNED_P99_MS)]),
      ],
    };
  },
};

async function admitSiblings(fleet: Fleet, count: number): Promise<readonly Sibling[]> {
  await fleet.daemon();
  const siblings = await addSiblings(fleet, count);
  for (const { target } of siblings) {
    const { outcome } = await fleet.up(target);
    if (outcome.outcome !== 'admitted') throw new Error(`${target}: ${JSON.stringify(outcome)}`);
  }
  return siblings;
}

/** The same program as a unit of a booted systemd, killed as often. */
async function bySystemd(
  fleet: Fleet,
  systemd: Systemd,
  name: 'default' | 'at-once',
  kills: number,
): Promise<readonly Death[]> {
  const { from: port } = await freePorts(Number(new URL(fleet.url).port) + 40);
  const journal = `GHOSTLIGHT_JOURNAL=${join(fleet.work, `unit-${name}.db`)}`;
  await systemd.start(
    `${name}.service`,
    `[Unit]
StartLimitIntervalSec=0

[Service]
ExecStart=${process.execPath} ${join(fleet.repository, 'src/main.js')}
Environment=PORT=${port} ${journal}
Restart=always
${name === 'at-once' ? 'RestartSec=0' : ''}
`,
  );
  const url = `http://127.0.0.1:${port}`;
  await firstWrite(url, 'begin');
  const deaths: Death[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    deaths.push(await killOnce(url, `${name}-${kill}`, () => hostPidOf(journal)));
  }
  return deaths;
}
