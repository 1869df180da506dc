import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commitAll, git } from '../../scripts/lib/ghostlight-source.mjs';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';

/** Targets of one repository: its whole tree is copied for each of them. */
const PER_REPOSITORY = 50;
/** Deployments under way at once; the queue of each target is its own. */
const AT_ONCE = 8;
const GIVE_UP_MS = 900_000;

/** A presence comes with each reading, at most 5 s later: with 115 s, every 120 s at the latest. */
const INTERVAL_MS = 115_000;

const recipe = (target: string): string => `schema = "idunn.recipe/v1"
target = "${target}"

[[artifact]]
id = "app"
path = "app"
kind = "directory"

[service]
artifact = "app"
path = "bin/sleep"
args = ["infinity"]

[health]
kind = "command"
argv = ["bin/sleep", "0"]
interval_ms = ${INTERVAL_MS}
`;

const binding = (target: string, repository: string, revision: string): string => `schema = "idunn.binding/v1"
target = "${target}"

[source]
origin = "${repository}"
ref = "refs/heads/main"
minimum_revision = "${revision}"
recipe = "${target}.toml"

[workload]
single_process = true
`;

/**
 * Adds targets that do nothing but live, each an attended `sleep` of its own, and deploys them. Answers their names;
 * throws when one is not admitted.
 */
export async function addSleepers(
  fleet: Fleet,
  count: number,
  note: (text: string) => void,
): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `sleeper-${index + 1}`);
  for (let from = 0; from < count; from += PER_REPOSITORY) {
    await addRepository(fleet, from, names.slice(from, from + PER_REPOSITORY));
  }
  await deployAll(fleet, names, note);
  return names;
}

async function addRepository(fleet: Fleet, number: number, targets: readonly string[]): Promise<void> {
  const repository = join(fleet.work, `sleepers-${number}`);
  const program = join(repository, 'app/bin/sleep');
  await mkdir(join(repository, 'app/bin'), { recursive: true });
  git(repository, 'init', '--quiet', '--initial-branch=main');
  await copyFile('/usr/bin/sleep', program);
  await chmod(program, 0o755);
  for (const target of targets) await writeFile(join(repository, `${target}.toml`), recipe(target));
  const revision = commitAll(repository, 'Sleepers');
  for (const target of targets) {
    await writeFile(join(fleet.directory, `bindings/${target}.toml`), binding(target, repository, revision));
  }
}

async function deployAll(fleet: Fleet, targets: readonly string[], note: (text: string) => void): Promise<void> {
  const waiting = [...targets];
  const under = new Set<string>();
  const enough = AbortSignal.timeout(GIVE_UP_MS);
  const stop = new AbortController();
  const signal = AbortSignal.any([enough, stop.signal]);
  let admitted = 0;
  const next = async (): Promise<void> => {
    const target = waiting.shift();
    if (target === undefined) return;
    under.add(target);
    const receipt = await fleet.client.command({ kind: 'up', operationId: `first-${target}`, target, ref: null });
    if (!receipt.ok) throw new Error(`${target}: ${receipt.refusal.code} ${receipt.refusal.reason}`);
  };
  const begun = performance.now();
  const listening = fleet.client.events({ signal });
  const first = listening.next();
  for (let lane = 0; lane < AT_ONCE; lane += 1) await next();
  for (let step = await first; step.done !== true; step = await listening.next()) {
    const followed = step.value;
    if (followed.kind !== 'event' || followed.event.event !== 'outcome' || !under.delete(followed.event.target))
      continue;
    const { outcome, target, refusal } = followed.event;
    if (outcome !== 'admitted') throw new Error(`${target}: ${outcome} ${JSON.stringify(refusal)}`);
    admitted += 1;
    if (admitted % 100 === 0) note(`${admitted} admitted after ${Math.round((performance.now() - begun) / 1_000)} s`);
    await next();
    if (admitted === targets.length) stop.abort();
  }
  if (admitted !== targets.length) throw new Error(`${admitted} of ${targets.length} targets were admitted in time`);
}
