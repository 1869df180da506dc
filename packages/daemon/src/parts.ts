import type { EngineApi } from '@idunn/authority';
import { API_VERSION, type DoctorCheck, type FleetAnswer, type TargetStatus, type Version } from '@idunn/client';
import { isDigest, ok, refusal, refused } from '@idunn/kernel';
import type { Fleet } from '@idunn/release';
import { readHistory } from './api/history.ts';
import { readIncidents } from './api/incidents.ts';
import type { ApiParts } from './api/parts.ts';
import { attendantCheck, attendedByTarget } from './attendant/attended-view.ts';
import { authorizationParts, authorizerKeys } from './authorizations.ts';
import { buildParts } from './builds.ts';
import { admitBindings, type Drivers } from './drivers.ts';
import { type Ground, type Machine, OBSERVER_TARGET } from './ground.ts';
import { keyAnswer } from './keys/keyring.ts';
import { logReader } from './logs/log-reader.ts';
import { readerCheck } from './reader-check.ts';
import { dossierAnswer } from './verify/answer.ts';
import { dossierOf, incarnationOf } from './verify/dossier.ts';
import { createVerifier } from './verify/verify.ts';

/** The program's own version, as its manifest says. */
export const DAEMON_VERSION = '0.1.0';

/** What the API speaks for, over the real parts. */
export function apiParts(
  ground: Ground,
  drivers: Drivers,
  engine: EngineApi,
  metrics: () => Promise<string>,
): ApiParts {
  const { machine, fleet, store, keyring, directories, authority } = ground;
  const startedAt = new Date(machine.clock.wallMs()).toISOString();
  const helpers = async (): Promise<Version['helpers']> => {
    const router = await drivers.router.look();
    const observer = await engine.target(OBSERVER_TARGET);
    const attendant = await drivers.attendant.status();
    return {
      routerPid: router.ok ? router.value.pid : null,
      observerPid: observer?.admitted?.processes[0]?.pid ?? null,
      attendantPid: attendant.kind === 'seen' ? attendant.value.pid : null,
    };
  };
  const verify = createVerifier({
    store,
    engine,
    drivers,
    releases: directories.releases,
    timers: machine.timers,
    authorityKeys: [authority.record],
    async observerPublicKey() {
      const key = await keyring.signer(OBSERVER_TARGET);
      return key.ok ? key.value.record.publicKey : null;
    },
  });
  return {
    engine,
    clock: machine.clock,
    async runsAs() {
      const found: Record<string, NonNullable<TargetStatus['runsAs']>> = {};
      for (const { target, admitted } of await engine.targets()) {
        const runs = admitted === null ? null : await drivers.workload.runsAs(admitted.activation);
        if (runs !== null) found[target] = runs;
      }
      return found;
    },
    async version() {
      return {
        schema: 'idunn.version/v1',
        api: API_VERSION,
        version: DAEMON_VERSION,
        fleet: fleet.last.fleet.id,
        machine: machine.name,
        directory: fleet.directory,
        pid: process.pid,
        node: process.versions.node,
        startedAt,
        helpers: await helpers(),
      };
    },
    async fleet() {
      const reading = await admitBindings(ground);
      if (!reading.ok) return reading;
      const { fleet: now, faults, targets } = reading.value;
      const answer: FleetAnswer = {
        schema: 'idunn.fleet-view/v1',
        fleet: now.id,
        machine: machine.name,
        directory: fleet.directory,
        targets: [...targets],
        profiles: Object.fromEntries(Object.entries(now.profiles).map(([name, of]) => [name, [...of]])),
        faults: faults.map(({ file, line, column, message, text }) => ({ file, line, column, message, text })),
      };
      return ok(answer);
    },
    async plan(target, ref, signal) {
      const planned = await drivers.release.plan(ref === null ? { target } : { target, ref }, signal);
      return planned.ok ? ok(planned.value.plan) : planned;
    },
    release: (digest) =>
      isDigest(digest)
        ? drivers.release.installed(digest)
        : Promise.resolve(refused(refusal('subject-unknown', `${digest} is no digest`))),
    async dossier(of) {
      const incarnation = 'incarnation' in of ? of.incarnation : await incarnationOf(store, of.release);
      const found = incarnation === null ? null : await dossierOf(store, incarnation);
      return found === null ? null : dossierAnswer(found, directories.releases, drivers.workload);
    },
    verify,
    history: (options) => readHistory(store, engine, options),
    incidents: async (options) => [...(await readIncidents(store, engine, options))],
    logs: logReader(directories.logs, drivers.workload),
    attended: () => attendedByTarget(drivers.attendant, machine.clock),
    doctor: () => doctorChecks(ground, drivers),
    async keys() {
      const { keys, unreadable } = await keyring.list();
      return { keys: [...keys, ...authorizerKeys(ground)], unreadable };
    },
    async createKey(target) {
      return keyAnswer(target, await keyring.create(target));
    },
    ...authorizationParts(ground, drivers.authorizations),
    ...buildParts(ground, drivers.builds),
    metrics,
  };
}

/** What only the daemon can look at. */
async function doctorChecks({ store, machine, directories, fleet }: Ground, drivers: Drivers): Promise<DoctorCheck[]> {
  const history = await store.verifyHistory().then(
    (entries): DoctorCheck => good('record store', `checked at the start, and ${entries} entries of the history chain`),
    (error: unknown): DoctorCheck => ({
      check: 'record store',
      verdict: 'bad',
      detail: error instanceof Error ? error.message : String(error),
      remedy: `Keep a copy of ${directories.state} before anything else, then restore it from a backup.`,
    }),
  );
  const { clock } = machine;
  const clocks = good(
    'clocks',
    `durations by the monotonic clock of boot ${clock.bootId}; the wall clock is for people`,
  );
  const router = await drivers.router.look();
  const routing: DoctorCheck = router.ok
    ? router.value.outdated
      ? {
          check: 'router',
          verdict: 'note',
          detail: `pid ${router.value.pid} runs other bytes than are installed`,
          remedy: null,
        }
      : good('router', `pid ${router.value.pid} answers`)
    : { check: 'router', verdict: 'bad', detail: router.refusal.reason, remedy: router.refusal.remedy };
  const peer = drivers.link.peer();
  const observing: DoctorCheck =
    peer === null
      ? { check: 'observer', verdict: 'bad', detail: 'no observer is linked', remedy: 'Run idunn status observer.' }
      : good('observer', `${peer.incarnation} is linked`);
  return [
    history,
    clocks,
    routing,
    observing,
    await attendantCheck(drivers.attendant),
    await sandboxCheck(fleet.last.fleet, drivers),
    await readerCheck(machine, fleet.last.fleet, drivers.source),
    separationCheck(machine, fleet.last.fleet),
  ];
}

/** What a hostile program of one target can do to another, or to its own incumbent. */
function separationCheck({ user }: Machine, { bindings }: Fleet): DoctorCheck {
  const check = 'user separation';
  const note = (detail: string, remedy: string): DoctorCheck => ({ check, verdict: 'note', detail, remedy });
  const all = 'I1 and I2 hold against crashes and bugs, not against a hostile workload';
  if (user.uid !== 0) {
    return note(
      `everything runs as ${user.name}: ${all}`,
      'Run the daemon as root; docs/root-mode.md says what that adds.',
    );
  }
  const workloads = [...bindings].map(([target, { binding }]) => ({ target, ...binding.workload }));
  const without = workloads.filter((workload) => workload.user === undefined).map(({ target }) => target);
  if (without.length === 0) {
    return good(check, `each of ${workloads.length} targets runs as a user of its own; root runs none of them`);
  }
  return note(`run by root: ${without.join(', ')}; ${all}`, 'Name workload.user in the binding: docs/root-mode.md.');
}

/** Bad only where a binding needs what is not there. */
async function sandboxCheck({ bindings }: Fleet, drivers: Drivers): Promise<DoctorCheck> {
  const bound = [...bindings].flatMap(([target, { binding }]) =>
    Object.values(binding.runner).some(({ kind }) => kind === 'bubblewrap') ? [target] : [],
  );
  const tried = await drivers.trySandbox();
  if (!tried.ok) {
    const { reason, remedy } = tried.refusal;
    const needed = bound.length === 0 ? 'no binding needs it' : `bound by ${bound.join(', ')}`;
    return { check: 'sandbox', verdict: bound.length === 0 ? 'note' : 'bad', detail: `${reason} (${needed})`, remedy };
  }
  const { limits, filtered } = tried.value;
  const held = limits.length === 0 ? 'no limits of steps can be held' : `limits that can be held: ${limits.join(', ')}`;
  return good('sandbox', `bubblewrap makes one; ${held}; system calls are ${filtered ? '' : 'not '}filtered`);
}

const good = (check: string, detail: string): DoctorCheck => ({ check, verdict: 'good', detail, remedy: null });
