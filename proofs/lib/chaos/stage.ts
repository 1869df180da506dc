import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type AttendedTarget, addAttended } from '../../../tests/e2e/lib/attended.ts';
import { type Fleet, makeFleet, type Scope } from '../../../tests/e2e/lib/fleet.ts';
import { portOf } from '../stage.ts';
import { clock, ghostlightBuilds, notes } from './programs.ts';
import { type Build, TARGETS, type Target } from './schedule.ts';

/** Room for the records and for rehearsals, which leave some free; what fills it is a file of ours. */
const DISK_BYTES = 256 * 1024 * 1024;
/** Short, so that a bad build does not keep its target for minutes, and long enough for a stopped process to go on. */
const DEADLINES = `
[deadlines]
seal_ms = 30_000
start_ms = 8_000
warming_ms = 8_000
handover_ms = 8_000
relinquish_ms = 2_000
ready_ms = 8_000
route_ms = 8_000
stop_ms = 4_000

[rehearsal]
timeout_ms = 8_000
`;
const STEP_MS = 12_000;
const HEALTH = 'kind = "http"\npath = "/"\ninterval_ms = 200\ntimeout_ms = 1_000\nfreshness_ms = 10_000';

const run = promisify(execFile);

/** A fleet of three targets whose records may stand on a small disk of their own. */
export interface Stage {
  readonly fleet: Fleet;
  readonly ports: Readonly<Record<Target, number>>;
  readonly notesDatabase: string;
  /** The directory of the records, where it is a disk of its own. */
  readonly disk: string | null;
  /** Commits the next version of a target. */
  commit(target: Target, build: Build): Promise<void>;
  /** What a target was at a commit of ours, whoever the commit was made for. */
  buildAt(commit: string, target: Target): Build | undefined;
}

/** Needs root for the disk; without, `disk` is null. */
export async function makeStage(scope: Scope): Promise<Stage> {
  const fleet = await makeFleet(scope);
  const disk = process.geteuid?.() === 0 ? await mountDisk(fleet, scope) : null;
  const port = portOf(fleet);
  const ports = { ghostlight: port, notes: port + 18, clock: port + 19 };
  await fleet.bind((text) => `${text}${DEADLINES}`);
  await fleet.edit('deployment/idunn/recipe.toml', (text) =>
    text.replace('timeout_ms = 60_000', `timeout_ms = ${STEP_MS}`),
  );
  const root = join(fleet.work, 'notes');
  await mkdir(root);
  await addProgram(fleet, {
    target: 'notes',
    text: notes(1, 'good'),
    port: ports.notes,
    args: '{ slot = "endpoint-port" }, { slot = "state-path:notes" }',
    recipe: '\n[state]\nschema = "notes/1"\n\n[[state.store]]\nid = "notes"\nkind = "sqlite"\npath = "notes.db"\n',
    binding: `\n[state]\nroot = "${root}"\n${DEADLINES}`,
  });
  await addProgram(fleet, {
    target: 'clock',
    text: clock(1, 'good'),
    port: ports.clock,
    args: '{ slot = "endpoint-port" }',
    binding: DEADLINES,
  });
  const ghostlight = await ghostlightBuilds(fleet.repository);
  const commits = new Map<string, Readonly<Record<Target, Build>>>();
  let builds: Readonly<Record<Target, Build>> = { ghostlight: 'good', notes: 'good', clock: 'good' };
  let version = 1;
  const commitNext = async (target: Target, build: Build): Promise<void> => {
    version += 1;
    const files =
      target === 'ghostlight'
        ? ghostlight(version, build)
        : { [`${target}/${target}.mjs`]: (target === 'notes' ? notes : clock)(version, build) };
    builds = { ...builds, [target]: build };
    commits.set(await fleet.commit(files), builds);
  };
  // One after the other: they share the repository.
  let newest: Promise<void> = Promise.resolve();
  const commit = (target: Target, build: Build): Promise<void> => {
    newest = newest.then(() => commitNext(target, build));
    return newest;
  };
  const buildAt = (at: string, target: Target): Build | undefined => commits.get(at)?.[target];
  return { fleet, ports, notesDatabase: join(root, 'notes.db'), disk, commit, buildAt };
}

/** The first deployments, before anything is hit. */
export async function admitAll({ fleet }: Stage): Promise<void> {
  await fleet.daemon();
  for (const target of TARGETS) {
    const { code, outcome } = await fleet.up(target);
    if (code !== 0) throw new Error(`the first deployment of ${target} ended ${JSON.stringify(outcome)}`);
  }
}

const addProgram = (
  fleet: Fleet,
  {
    text,
    args,
    ...added
  }: Pick<AttendedTarget, 'target' | 'recipe' | 'binding'> & { text: string; port: number; args: string },
): Promise<void> =>
  addAttended(fleet, {
    ...added,
    files: { [`${added.target}.mjs`]: text },
    service: `path = "${added.target}.mjs"
interpreter = "node"
args = [${args}]
protocol = "http"
routed = true`,
    health: HEALTH,
    interpreter: { name: 'node', path: realpathSync(process.execPath) },
  });

async function mountDisk(fleet: Fleet, scope: Scope): Promise<string> {
  const disk = join(fleet.work, 'state');
  await mkdir(disk, { mode: 0o700 });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0700`, 'tmpfs', disk]);
  scope.after(async () => {
    await fleet.end();
    await run('umount', ['--lazy', disk]);
  });
  return disk;
}
