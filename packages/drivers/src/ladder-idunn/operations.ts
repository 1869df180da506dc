import type { Answer, Client, RefusalAnswer } from '@idunn/client';
import {
  absent,
  type Clock,
  type Evidence,
  type Ids,
  isDigest,
  type Outcome,
  ok,
  refusal,
  refused,
  risingId,
  type SigningKey,
  seen,
  signReleaseAuthorization,
  type Timers,
  unknown,
} from '@idunn/kernel';
import type { ReleaseOperations, RolloutEnd, Workload } from '@idunn/ladder';
import { followRollout } from './rollout.ts';

/** How long an authorization that a promotion signs may be planned by. */
const AUTHORIZED_MS = 60 * 60_000;

export interface FleetOptions {
  readonly client: Client;
  /** The authorizer that the bindings of the fleet name; `null` where another hand signs. */
  readonly authorizer: SigningKey | null;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
}

/**
 * Release operations over one fleet: a namespace is the fleet's id, a workload a target, a release a build by its
 * digest. A build is carried in as a signed export, admitted by a signed release authorization, and sealed without
 * building.
 * Targets are not put to sleep and hosts are not switched here; both are refused by name.
 */
export function fleetOperations(options: FleetOptions): ReleaseOperations {
  const { client } = options;
  /** The deployments that were begun here, by target. */
  const begun = new Map<string, string>();

  const status = async (namespace: string) => {
    const answer = outcomeOf(await client.status());
    if (!answer.ok || answer.value.fleet === namespace) return answer;
    return refused(refusal('fleet-refused', `The daemon is of the fleet ${answer.value.fleet}, not ${namespace}.`));
  };

  return {
    description: `the fleet behind ${client.socket}`,

    async currentRelease({ namespace, workload }): Promise<Evidence<string>> {
      const read = await status(namespace);
      if (!read.ok) return unknown(read.refusal.reason);
      const target = read.value.targets.find((one) => one.target === workload);
      if (target === undefined) return unknown(`the fleet ${namespace} has no target ${workload}`);
      return target.admitted === null ? absent : seen(target.admitted.build);
    },

    async workloads({ namespace }): Promise<Outcome<readonly Workload[]>> {
      const read = await status(namespace);
      if (!read.ok) return read;
      const bound = outcomeOf(await client.fleet());
      if (!bound.ok) return bound;
      return ok(
        read.value.targets.flatMap(({ target, admitted }) =>
          admitted === null || !bound.value.targets.includes(target)
            ? []
            : [{ name: target, release: admitted.build, replicas: 1 }],
        ),
      );
    },

    async namespaces() {
      const read = outcomeOf(await client.version());
      return read.ok ? ok([read.value.fleet]) : read;
    },

    // A route has a name and an address; which hosts lead to it is told with the switch of hosts.
    hostOwner: async () => unknown('a fleet does not tell the hosts of its routes yet'),

    async exported({ release }) {
      const exported = outcomeOf(await client.exportBuild(release));
      if (!exported.ok) return exported;
      const { build, directory } = exported.value;
      if (!isDigest(build)) return refused(refusal('fleet-refused', `The export is of ${build}, which is no digest.`));
      return ok({ kind: 'build', build, export: directory });
    },

    async apply(_, { namespace, source, workload }) {
      if (source.kind !== 'build') {
        return refused(refusal('source-not-for-fleet', `A fleet takes builds, and was given ${source.kind}.`));
      }
      const here = await status(namespace);
      if (!here.ok) return here;
      if (workload === undefined) return refused(refusal('source-not-for-fleet', 'A build is for one target.'));
      const taken = outcomeOf(await client.takeBuild(workload, source.export));
      if (!taken.ok) return taken;
      if (taken.value.build === source.build) return ok(undefined);
      return refused(refusal('fleet-refused', `The export is of ${taken.value.build}, not of ${source.build}.`));
    },

    async setRelease(_, { namespace, workload, release }) {
      const here = await status(namespace);
      if (!here.ok) return here;
      const authorized = await authorize(options, namespace, workload, release);
      if (!authorized.ok) return authorized;
      const operationId = risingId(options.ids, options.clock, 'ladder');
      const receipt = outcomeOf(await commanded(options, { operationId, target: workload, kind: 'up', ref: null }));
      if (!receipt.ok) return receipt;
      begun.set(workload, receipt.value.transaction);
      return ok(undefined);
    },

    async awaitRollout({ namespace, workload, deadlineMs }, progress): Promise<RolloutEnd> {
      const transaction = begun.get(workload);
      if (transaction !== undefined) return followRollout(options, { workload, transaction, deadlineMs }, progress);
      const read = await status(namespace);
      if (!read.ok) return { kind: 'failed', because: read.refusal.reason };
      const target = read.value.targets.find((one) => one.target === workload);
      if (!target?.admitted) return { kind: 'failed', because: `nothing of ${workload} is admitted` };
      const { admitted, incarnations } = target;
      const view = incarnations.find((one) => one.activation === admitted.activation);
      if (view?.ready && view.present?.fresh === true) return { kind: 'ready' };
      return { kind: 'failed', because: `${workload} is admitted and not ready` };
    },

    sleep: async () => later('putting a fleet to sleep'),
    wake: async () => later('waking a fleet'),
    routeHost: async () => later('switching a host between fleets'),
    dropRoute: async () => later('switching a host between fleets'),
  };
}

/** How often, and after what pause, a command is repeated whose answer was lost. */
const REPEATS = 20;
const REPEAT_MS = 500;

/** A command whose answer was lost is asked again under its own id: the first receipt is the answer (F8, I12). */
async function commanded({ client, timers }: FleetOptions, request: Parameters<Client['command']>[0]) {
  for (let repeat = 0; ; repeat += 1) {
    const answer = await client.command(request);
    if (answer.ok || answer.refusal.code !== 'daemon-unreachable' || repeat === REPEATS) return answer;
    await new Promise<void>((resolve) => timers.after(REPEAT_MS, resolve));
  }
}

/** Says that this build may be deployed as this target of this fleet, by the authorizer's key. */
async function authorize(
  { client, authorizer, clock, ids }: FleetOptions,
  fleet: string,
  target: string,
  release: string,
): Promise<Outcome<unknown>> {
  if (!isDigest(release)) return refused(refusal('source-not-for-fleet', `${release} is no digest of a build.`));
  const build = outcomeOf(await client.build(release));
  if (!build.ok) return build;
  if (authorizer === null) return ok(undefined);
  const known = outcomeOf(await client.authorizations(target));
  if (!known.ok) return known;
  const before = known.value.authorizations.find(({ keyId }) => keyId === authorizer.keyId);
  const now = clock.wallMs();
  const envelope = signReleaseAuthorization(
    {
      fleet,
      target,
      commit: build.value.commit,
      build: release,
      notBeforeMs: now,
      notAfterMs: now + AUTHORIZED_MS,
      sequence: (before?.sequence ?? 0) + 1,
      requestId: ids.fresh('auth'),
    },
    authorizer,
  );
  const signatures = envelope.signatures.map((signature) => ({ ...signature }));
  return outcomeOf(await client.authorize(target, { ...envelope, signatures }));
}

const later = (what: string): Outcome<never> =>
  refused(refusal('feature-not-yet-supported', `${what}: not yet supported.`));

/** An answer of the daemon: its refusal keeps its own words, under a code that this side knows. */
export function outcomeOf<T>(answer: Answer<T>): Outcome<T> {
  return answer.ok ? ok(answer.value) : refused(told(answer.refusal));
}

const told = ({ code, reason, remedy }: RefusalAnswer) =>
  refusal('fleet-refused', `${code}: ${reason}`, { remedy, detail: { code } });
