import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { attendantBuild, attendantProgram, rehearserProgram } from '@idunn/attendant';
import {
  type AttendantDriver,
  type BootstrapCorrelator,
  type ChannelDriver,
  createAttendantDriver,
  createBootstrapCorrelator,
  createBubblewrapRunner,
  createChannelDriver,
  createGitSource,
  createHostRunner,
  createObserverLink,
  createProcessDriver,
  createRouterDriver,
  createRunner,
  createSqliteLease,
  type GitSource,
  type ObserverLink,
  type ProcessDriver,
  type Reading,
  type RouterDriver,
  type SandboxAbilities,
  type SqliteLease,
  trySandbox,
} from '@idunn/drivers';
import { type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import {
  type AuthorizationBook,
  type BuildShelf,
  createAuthorizationBook,
  createBuildShelf,
  createLocalReleaseService,
  type Fleet,
  type ReleasePort,
  releaseDirectory,
  stagesDirectory,
} from '@idunn/release';
import type { FleetReading } from './fleet/fleet-source.ts';
import { type Ground, OBSERVER_TARGET } from './ground.ts';
import { assembleObserver } from './observer/installed-program.ts';

/** Everything outside that the daemon drives. */
export interface Drivers {
  readonly release: ReleasePort;
  readonly source: GitSource;
  readonly authorizations: AuthorizationBook;
  readonly builds: BuildShelf;
  readonly workload: ProcessDriver;
  readonly channel: ChannelDriver;
  /** The lease connection of programs that do not speak for themselves. */
  readonly attendant: AttendantDriver;
  readonly lease: SqliteLease;
  readonly router: RouterDriver;
  readonly link: ObserverLink;
  readonly bootstrap: BootstrapCorrelator;
  /** Really starts a sandbox, as a step's runner would. */
  readonly trySandbox: () => Promise<Outcome<SandboxAbilities>>;
}

/** Makes the drivers over the ground; starts the router when none runs. Everything else begins with the engine. */
export async function createDrivers(ground: Ground): Promise<Outcome<Drivers>> {
  const { machine, directories, fleet, keyring, authority } = ground;
  const { clock, timers, ids } = machine;
  const { id } = fleet.last.fleet;
  const audience = { fleet: id, machine: machine.name };
  const git = await findProgram('git', machine.account.environment['PATH']);
  if (!git.ok) return git;
  const bubblewrap = await findProgram('bwrap', machine.account.environment['PATH']);
  const sandboxes = bubblewrap.ok ? bubblewrap.value : null;
  const observerProgram = await assembleObserver(directories.cache);
  if (!observerProgram.ok) return observerProgram;
  await admitBindings(ground);
  const observerKey = await keyring.admit(OBSERVER_TARGET);
  if (!observerKey.ok) return observerKey;
  const { keyId, publicKey } = observerKey.value.record;
  const sockets = join(directories.runtime, 'observer');
  const stages = stagesDirectory(directories.cache);

  const reading = (): Reading => ({ uid: machine.user.uid, ...fleet.last.fleet.source });
  const source = createGitSource({
    git: git.value,
    bubblewrap: sandboxes,
    cache: join(directories.cache, 'git'),
    stages,
    clock,
    reading,
  });
  const authorizations = createAuthorizationBook({ store: ground.store, clock, fleet: id });

  const builds = createBuildShelf({
    directory: join(directories.cache, 'builds'),
    releases: directories.releases,
    stages,
    key: authority.signingKey,
    ids,
  });
  const local = createLocalReleaseService({
    fleet: () => fleet.last.fleet,
    machine: machine.name,
    directories,
    source,
    authorizations,
    builds,
    runner: createRunner(
      createHostRunner({ stages, clock, timers }),
      createBubblewrapRunner({
        fleet: id,
        stages,
        bubblewrap: sandboxes,
        uid: machine.user.uid,
        hidden: () => hiddenFromSteps(fleet.last.fleet),
        clock,
        timers,
      }),
    ),
    key: authority.signingKey,
    signer: async (target) => {
      const key = await keyring.signer(target);
      if (!key.ok) return unknown(key.refusal.reason);
      return seen({ keyId: key.value.record.keyId, publicKey: key.value.record.publicKey });
    },
    uid: machine.user.uid,
    clock,
    ids,
    installed: [
      {
        target: OBSERVER_TARGET,
        ...observerProgram.value,
        interpreter: process.execPath,
        args: ['--store', join(directories.state, 'observer'), '--sockets', sockets],
        environment: { NODE_OPTIONS: '--max-semi-space-size=1' },
      },
    ],
  });
  const release: ReleasePort = {
    ...local,
    // The files' bytes are what counts, at the very moment of planning.
    async plan(request, signal) {
      const admitted = await admitBindings(ground, request.target);
      return admitted.ok ? local.plan(request, signal) : admitted;
    },
  };
  const lease = createSqliteLease();
  const workload = createProcessDriver({
    lease,
    fleet: id,
    machine: machine.name,
    roots: { runtime: directories.runtime, logs: directories.logs },
    rehearsal: { directory: join(directories.state, 'rehearsals'), rehearser: rehearserProgram() },
    authorityKey: authority.signingKey,
    signerKeyFor: async (target) => {
      const key = await keyring.signer(target);
      return key.ok ? ok(key.value.signingKey) : key;
    },
    observerEndpoint: (target) =>
      target === OBSERVER_TARGET ? null : { socket: join(sockets, 'presence.sock'), keyId, publicKey },
    artifactFile: (release, artifact, path) => join(releaseDirectory(directories.releases, release), artifact, path),
    clock,
    timers,
  });
  void endRehearsals(workload, (text) => ground.log.warn({ part: 'rehearsals' }, text));
  const router = createRouterDriver({
    fleet: id,
    controlSocket: join(directories.runtime, 'router.sock'),
    stateFile: join(directories.state, 'router.json'),
    logFile: join(directories.logs, 'router.log'),
    redact: (activation, text) => workload.redact(activation, text),
    clock,
    timers,
    ids,
  });
  const routing = await router.ensure();
  if (!routing.ok) return routing;
  const link = createObserverLink({
    socket: join(sockets, 'link.sock'),
    audience,
    authority: authority.signingKey,
    observerPublicKey: publicKey,
    anchors: (target) => keyring.anchors(target),
    clock,
    timers,
    ids,
    log: (text) => ground.log.info({ part: 'observer-link' }, text),
  });
  const bootstrap = await createBootstrapCorrelator({
    target: OBSERVER_TARGET,
    audience,
    anchors: [{ keyId, publicKey }],
    store: ground.store,
    clock,
    timers,
  });
  const channel = createChannelDriver({
    audience,
    authorityKey: authority.signingKey,
    socketPath: (activation) => workload.socketPath(activation),
    activation: (activation) => workload.activation(activation),
    anchors: (target) => keyring.anchors(target),
    endOthers: (handle) => workload.endOthers(handle),
    clock,
    timers,
    ids,
    log: (text) => ground.log.info({ part: 'channel' }, text),
  });
  const attendant = createAttendantDriver({
    fleet: id,
    audience,
    program: attendantProgram(),
    build: attendantBuild(),
    controlSocket: join(directories.runtime, 'attendant.sock'),
    stateFile: join(directories.state, 'attendant.json'),
    logFile: join(directories.logs, 'attendant.log'),
    activationDirectory: (activation) => workload.activationDirectory(activation),
    activation: (activation) => workload.activation(activation),
    anchors: (target) => keyring.anchors(target),
    openGate: (handle, grant) => workload.openGate(handle, grant),
    clock,
    timers,
    log: (text) => ground.log.info({ part: 'attendant' }, text),
  });
  const trial = { fleet: id, bubblewrap: sandboxes, uid: machine.user.uid, timers };
  const parts = {
    release,
    source,
    authorizations,
    builds,
    workload,
    channel,
    attendant,
    lease,
    router,
    link,
    bootstrap,
  };
  return ok({ ...parts, trySandbox: () => trySandbox(trial) });
}

/** I11: no mount of a runner shows what the authority keeps, any target's state, or the file of a secret. */
function hiddenFromSteps({ root, directories, bindings }: Fleet): readonly string[] {
  const bound = [...bindings.values()].flatMap(({ binding: { state, secret } }) => [
    ...(state === undefined ? [] : [state.root]),
    ...Object.values(secret).map(({ file }) => file),
  ]);
  return [root, ...Object.values(directories), ...bound];
}

/** What a dead daemon left of rehearsals is ended beside everything else: nobody waits for it. */
async function endRehearsals(workload: ProcessDriver, log: (text: string) => void): Promise<void> {
  const left = await workload.endRehearsals().catch((error: unknown) => [String(error)]);
  for (const why of left) log(why);
}

/**
 * Reads the fleet anew; a binding that is seen for the first time is admitted, which makes its target's service
 * signer.
 */
export async function admitBindings({ fleet, keyring }: Ground, target?: string): Promise<Outcome<FleetReading>> {
  const reading =
    target === undefined || target === OBSERVER_TARGET ? ok(await fleet.read()) : await fleet.readFor(target);
  if (!reading.ok) return reading;
  for (const bound of reading.value.fleet.bindings.keys()) {
    if (keyring.anchors(bound).length > 0) continue;
    const key = await keyring.admit(bound);
    if (!key.ok && bound === target) return key;
  }
  return reading;
}

async function findProgram(name: string, path: string | undefined): Promise<Outcome<string>> {
  for (const directory of (path ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    if (!directory.startsWith('/')) continue;
    const file = join(directory, name);
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return ok(file);
  }
  return refused(
    refusal('program-missing', `The program ${name} is not in any directory of PATH.`, {
      remedy: `Install ${name}, for example with apt-get install ${name}.`,
    }),
  );
}
