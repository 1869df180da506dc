import { join } from 'node:path';
import type { LaunchRequest, RehearsalRequest } from '@idunn/authority';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import type { LaunchContract } from '@idunn/release';
import { makeDirectory, makeFifo, placePrivate } from '../files.ts';
import type { LaunchWords } from '../launch-words.ts';
import { openFilesWords } from '../limits.ts';
import { probeWords } from '../probe-words.ts';
import { type GatheredSecret, gatherSecrets } from '../secrets.ts';
import { chooseUser } from '../user/choose.ts';
import { giveTo } from '../user/give.ts';
import { type RunsAs, userWords } from '../user/words.ts';
import type { Place } from './place.ts';
import type { RehearsalOrders } from './result.ts';
import { sandboxWords } from './sandbox.ts';

/** What the rehearser may use beside its program: threads, and bytes of memory. */
const REHEARSER = { processes: 32, memoryBytes: 268_435_456 } as const;

export interface Staging {
  readonly request: RehearsalRequest;
  readonly place: Place;
  readonly port: number | null;
  /** `bwrap`, or `null`: the program then sees its copy under the copy's own path, and the network. */
  readonly sandbox: string | null;
  readonly rehearser: readonly [string, ...string[]];
  readonly prlimit: string | null;
  readonly artifactFile: (artifact: string, path: string) => string;
}

/** A rehearsal that is ready to be started as one launch of its own. */
export interface Staged {
  readonly launch: LaunchRequest;
  /** Puts the rehearser, and the sandbox around both, in the program's place. */
  readonly dress: (words: LaunchWords) => Promise<LaunchWords>;
}

/**
 * Makes an activation directory without keys or documents, for the program alone: nothing that it says counts. The
 * secrets are the real ones.
 */
export async function stage(staging: Staging): Promise<Outcome<Staged>> {
  const { request, place, sandbox } = staging;
  const { launch, health, target, release } = request;
  const wrapper = openFilesWords(launch.limits, staging.prlimit);
  if (!wrapper.ok) return wrapper;
  const secrets = await gatherSecrets(launch);
  if (!secrets.ok) return secrets;
  const activation = activationOf(staging);
  const state = sandbox === null ? { ...request.state, root: place.copy } : request.state;
  const { artifactFile } = staging;
  const runs = chooseUser(launch, request.state, []);
  if (runs !== null && sandbox === null) return refused(refusal('rehearsal-failed', needsSandbox(target)));
  const site = { launch, state, activation, activationDirectory: place.files.directory, artifactFile, runs };
  const probe = probeWords(health, site);
  if (!probe.ok) return probe;
  if (probe.value === null || health.kind !== 'attended') throw new TypeError('only an attended program is rehearsed');
  await furnish(place, secrets.value, runs);
  const looking = {
    schema: 'idunn.rehearsal-orders/v1',
    probe: probe.value,
    endpoint: activation.endpoint,
    intervalMs: health.intervalMs,
    probeTimeoutMs: health.timeoutMs,
    successes: health.successes,
    timeoutMs: request.rehearsal.timeoutMs,
    result: place.result,
  } as const;
  const withRoom = { ...launch, limits: withRehearser(launch.limits) };
  return ok({
    launch: { requestId: place.id, target, activation, release, launch: withRoom, state, start: 'embedded' },
    dress: ({ argv, environment, cwd }) =>
      dressed(staging, { ...looking, argv: [...userWords(runs), ...wrapper.value, ...argv], environment, cwd }),
  });
}

const needsSandbox = (target: string): string =>
  `The rehearsal of ${target} failed: a program with a user of its own is rehearsed by bubblewrap only.`;

const activationOf = ({ request: { target, release, launch }, place, port }: Staging): Activation => ({
  schema: 'idunn.activation/v1',
  activation: place.id,
  incarnation: `${target}@${release}`,
  target,
  publicKey: '',
  keyId: '',
  endpoint: launch.endpoint === null || port === null ? null : { host: launch.endpoint.host, port },
});

async function furnish({ files, copy }: Place, secrets: readonly GatheredSecret[], runs: RunsAs | null): Promise<void> {
  for (const directory of [files.secrets, files.keptSecrets]) {
    await makeDirectory(directory);
    for (const { name, bytes } of secrets) await placePrivate(join(directory, name), bytes);
  }
  if (runs !== null) for (const directory of [files.directory, copy]) await giveTo(directory, runs);
  await makeFifo(files.alive);
  await placePrivate(files.launch, '{}\n');
}

async function dressed({ request, place, sandbox, rehearser }: Staging, orders: RehearsalOrders): Promise<LaunchWords> {
  const { copy, files } = place;
  const { cwd } = orders;
  const ordersFile = join(files.own, 'orders.json');
  await placePrivate(ordersFile, `${JSON.stringify(orders)}\n`);
  const view = {
    copy,
    stateRoot: request.state.root,
    activationDirectory: files.directory,
    ownDirectory: files.own,
    cwd,
  };
  const around = sandbox === null ? [] : sandboxWords(sandbox, view);
  const [program, ...args] = [...around, ...rehearser, ordersFile];
  const environment = { IDUNN_ACTIVATION: place.id, IDUNN_ACTIVATION_DIRECTORY: files.directory };
  return { argv: [program, ...args], environment, entry: null, cwd };
}

/** The program's limits hold for it and the rehearser together; open files for the program alone. */
const withRehearser = (limits: LaunchContract['limits']): LaunchContract['limits'] => ({
  ...limits,
  memoryBytes: limits.memoryBytes === null ? null : limits.memoryBytes + REHEARSER.memoryBytes,
  processes: limits.processes === null ? null : limits.processes + REHEARSER.processes,
  openFiles: null,
});
