import type { Digest } from '@idunn/kernel';
import type { SourceFacts } from './source-facts.ts';

/** Recipe, binding and source facts, compiled and frozen. Private to the authority: it holds host paths. */
export interface Plan {
  readonly schema: 'idunn.plan/v1';
  readonly fleet: string;
  readonly machine: string;
  readonly target: string;
  readonly source: SourceFacts;
  /** SHA-256 over the binding file's exact bytes. */
  readonly bindingDigest: Digest;
  readonly inputs: readonly PinnedInput[];
  readonly runners: Readonly<Record<string, RunnerGrant>>;
  readonly steps: readonly Step[];
  readonly artifacts: readonly ArtifactSpec[];
  readonly launch: LaunchContract;
  readonly health: HealthContract;
  readonly continuity: ContinuityContract;
  /** Whose second freeze holds this deployment too; `null`: only the operator's. */
  readonly steward: Steward | null;
  readonly state: StateContract | null;
  /** A gated program is tried on a copy of its state before its fence; `null` for every other. */
  readonly rehearsal: RehearsalContract | null;
  readonly route: RouteContract | null;
  readonly capabilities: readonly Capability[];
  readonly rollout: RolloutContract;
  readonly deadlines: PhaseDeadlines;
  /** How long the incumbent may finish what it holds, in milliseconds. */
  readonly drainMs: number;
  /** How many sealed releases are kept for rollback, the admitted one included. */
  readonly retainReleases: number;
  /** The target's service signer: the trust anchor's raw public key (base64) and its key id. */
  readonly signer: { readonly keyId: string; readonly publicKey: string };
}

export interface PinnedInput {
  readonly id: string;
  readonly url: string;
  readonly sha256: Digest;
  readonly maxBytes: number;
}

/** What the binding grants to one runner profile. */
export type RunnerGrant = HostNativeGrant | BubblewrapGrant;

interface AnyRunnerGrant {
  /** Program name as the recipe's argv[0] writes it, to an absolute host path. */
  readonly allowedPrograms: Readonly<Record<string, string>>;
  /** Environment for every step of the profile; nothing else is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** The file of the source tree that pins what the steps fetch; its digest is in the provenance. */
  readonly lockfile: string | null;
}

/** Steps run as Idunn's own user with all that it can see and reach. */
export interface HostNativeGrant extends AnyRunnerGrant {
  readonly kind: 'host-native';
}

/** Steps run confined: they see the system's programs, these mounts and their stage, and reach only this network. */
export interface BubblewrapGrant extends AnyRunnerGrant {
  readonly kind: 'bubblewrap';
  /** Host directories and files that are shown, read-only. */
  readonly mounts: readonly { readonly source: string; readonly destination: string }[];
  readonly limits: StepLimits;
  /** `null`: no network at all. */
  readonly network: NetworkProfile | null;
}

/** For all processes of one step together; `null`: none. */
export interface StepLimits {
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  /** Thousandths of one core. */
  readonly cpuMillis: number | null;
}

/** The only places that a step may connect to, through a proxy of ours. */
export interface NetworkProfile {
  readonly name: string;
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** At once. */
  readonly connections: number;
  /** In both directions together, for each step. */
  readonly maxBytes: number;
}

export interface Step {
  readonly id: string;
  readonly stage: 'build' | 'test';
  readonly profile: string;
  readonly argv: readonly [string, ...string[]];
  /** Relative to the staged tree. */
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly outputLimitBytes: number;
}

export interface ArtifactSpec {
  readonly id: string;
  /** Relative to the staged tree, after the steps ran; for an input, its id. */
  readonly path: string;
  readonly kind: 'file' | 'directory';
  /** Present: a pinned input that is sealed as an executable file. */
  readonly from?: 'input';
}

/** One word of argv or one environment value: literal text or a slot that Idunn fills. */
export type LaunchValue =
  | { readonly literal: string }
  /**
   * `state-path:<store id>`, `state-root`, `endpoint-port`, `endpoint-host`, `activation-directory`, `artifact:<id>`,
   * `artifact:<id>/<path>`.
   */
  | { readonly slot: string };

interface AnyInterpreter {
  readonly kind: 'interpreter';
  readonly digest: Digest;
  /** The packaged file that it runs. */
  readonly entry: { readonly artifact: string; readonly path: string };
}

/** The machine's own, which the binding admits by its absolute path. */
export interface HostInterpreter extends AnyInterpreter {
  readonly origin: 'host';
  readonly path: string;
}

/** A pinned input, sealed into the release as an artifact of its own. */
export interface SealedInterpreter extends AnyInterpreter {
  readonly origin: 'input';
  readonly artifact: string;
}

export interface LaunchContract {
  /** What is exec'd: a file of an artifact, or an interpreter that runs a packaged entry. */
  readonly program:
    | { readonly kind: 'artifact'; readonly artifact: string; readonly path: string }
    | HostInterpreter
    | SealedInterpreter;
  readonly args: readonly LaunchValue[];
  readonly environment: Readonly<Record<string, LaunchValue>>;
  /** Names of secrets; each becomes a 0600 file `secrets/<name>` of the activation directory (F30). */
  readonly secrets: readonly { readonly name: string; readonly file: string }[];
  readonly endpoint: {
    readonly protocol: 'http' | 'tcp';
    readonly host: '127.0.0.1';
    readonly fromPort: number;
    readonly toPort: number;
  } | null;
  readonly limits: ResourceLimits;
  /** Whom the program runs as; absent: the daemon's own user. */
  readonly identity?: WorkloadIdentity;
  /** The binding's word that the program never forks, which stands in for a control group (section 6). */
  readonly singleProcess: boolean;
}

/** An account or a group of this machine: its name, and the number that it had when the plan was made. */
export interface NamedUser {
  readonly name: string;
  readonly uid: number;
}

export interface NamedGroup {
  readonly name: string;
  readonly gid: number;
}

/** Only where the daemon is root. */
export interface WorkloadIdentity {
  /** The second takes turns with the first, so that a candidate never has its incumbent's user. */
  readonly users: readonly [NamedUser] | readonly [NamedUser, NamedUser];
  /** The primary group of both. */
  readonly group: NamedGroup;
}

export interface ResourceLimits {
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  readonly openFiles: number | null;
  readonly logBytes: number;
  readonly logFiles: number;
}

/** How the service shows its health. */
export type HealthContract = EmbeddedHealth | AttendedHealth;

interface AnyHealth {
  /** Path answered with 2xx while healthy, used to see the route serve; `null` without an HTTP route. */
  readonly path: string | null;
  /** A presence older than this is stale, in milliseconds of the monotonic clock. */
  readonly freshnessMs: number;
}

/** It embeds the workload protocol and signs presence itself. */
export interface EmbeddedHealth extends AnyHealth {
  readonly kind: 'idunn';
}

/** It knows nothing of Idunn: the attendant probes it and signs its presence. */
export interface AttendedHealth extends AnyHealth {
  readonly kind: 'attended';
  readonly probe: Probe;
  /** From the end of one probe to the begin of the next. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Good readings in a row that make it `active`; at least 1. */
  readonly successes: number;
  /** Bad readings in a row that make it `degraded`; one bad reading alone is no verdict (F11). */
  readonly failures: number;
}

export type Probe =
  | {
      readonly kind: 'http';
      readonly method: 'GET' | 'HEAD' | 'POST';
      readonly path: string;
      /** Statuses that are good; never empty. */
      readonly statuses: readonly number[];
      /** Text that a good body contains; `null`: any body will do. */
      readonly body: string | null;
    }
  /** A connection is accepted. */
  | { readonly kind: 'tcp' }
  /** Ends with exit code 0. The program is a file of an artifact, or the launch contract's own interpreter. */
  | { readonly kind: 'command'; readonly argv: readonly [LaunchValue, ...LaunchValue[]] };

/** How long the admitted process may be without a fresh, good word before it counts as failed. */
export interface ContinuityContract {
  /** `null`: a process that hangs is an incident and is left alone. */
  readonly failedAfterMs: number | null;
}

/** Whether incumbent and candidate may stand side by side; where they cannot, the operator's reason is in the plan. */
export type RolloutContract =
  | { readonly strategy: 'candidate-then-promote' }
  | { readonly strategy: 'stop-then-start'; readonly reason: string };

/** A user who may stop deployments of the target beside the operator, by a file that only that user owns. */
export interface Steward {
  /** A login; never root. */
  readonly user: string;
  /** The freeze record, an absolute path. */
  readonly store: string;
}

export interface RehearsalContract {
  /** From the start of the copy's program to its first good reading. */
  readonly timeoutMs: number;
  /** A larger state is not copied, and the deployment is refused before its fence. */
  readonly copyLimitBytes: number;
}

/**
 * How the program meets its lease. `embedded`: it speaks the workload protocol. `overlapping`: attended and without
 * state, incumbent and candidate run side by side. `gated`: attended with state; a launcher waits, and the program
 * itself runs once the lease is granted.
 */
export type StartKind = 'embedded' | 'overlapping' | 'gated';

export const startKindOf = (plan: Pick<Plan, 'health' | 'state'>): StartKind => {
  if (plan.health.kind === 'idunn') return 'embedded';
  return plan.state === null ? 'overlapping' : 'gated';
};

export interface StateContract {
  /** Belongs to the target, never to a release (F20). */
  readonly stateId: string;
  readonly schema: string;
  /** Schemas that this build can open; the schema itself is always among them. */
  readonly accepts: readonly string[];
  readonly root: string;
  readonly stores: readonly StateStore[];
  /**
   * Where the lease row lives. `rows`: in every SQLite store, compared by each write. `file`: beside the owner claim,
   * because the program would never compare it; only the end of every process then fences.
   */
  readonly lease: 'rows' | 'file';
  /** The group that the state's files carry; absent: the workload's own. Only with a user of the workload's own. */
  readonly group?: NamedGroup;
  /** The strongest proof that any of the stores needs. */
  readonly fence: 'epoch-raised' | 'tree-empty';
}

export interface StateStore {
  readonly id: string;
  readonly kind: 'sqlite' | 'files' | 'postgres';
  /** Relative to the state root. */
  readonly path: string;
}

export interface RouteContract {
  /** Route name, unique in the fleet. */
  readonly name: string;
  readonly listen: ListenAddress;
  /** `http`: requests, upgraded connections too. `tcp`: streams of bytes. */
  readonly protocol: 'http' | 'tcp';
  /**
   * Host names in lower case by which the route is told apart on its address, `*.` for one label of any name; empty:
   * what no other route of the address takes.
   */
  readonly names: readonly string[];
  /** The router speaks TLS with the clients; `null`: it does not. */
  readonly tls: RouteTls | null;
  /** Where plain HTTP requests are answered with the same address under https; `null`: nowhere. */
  readonly redirect: ListenAddress | null;
  /** Tells the backend of a stream who its client is (PROXY protocol version 2). */
  readonly proxyProtocol: boolean;
  /** A stream or an upgraded connection in which nothing was sent for this long is closed. */
  readonly idleMs: number;
  readonly holdMs: number;
  readonly holdRequests: number;
  readonly holdBytes: number;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface RouteTls {
  /** Absolute paths of PEM files; the first pair serves a client that names no host. Never empty. */
  readonly certificates: readonly { readonly certificate: string; readonly key: string }[];
}

export interface Capability {
  readonly name: string;
  readonly schema: string;
  readonly compatible: readonly string[];
}

/** Frozen at planning, in milliseconds. */
export interface PhaseDeadlines {
  readonly materializeMs: number;
  readonly sealMs: number;
  readonly startMs: number;
  readonly warmingMs: number;
  readonly handoverMs: number;
  /** Term of a `relinquish`: how long the incumbent waits for its answer's consequence. */
  readonly relinquishMs: number;
  readonly readyMs: number;
  readonly routeMs: number;
  readonly stopMs: number;
}
