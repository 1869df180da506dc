import type { Digest, Evidence, JsonObject, Outcome } from '@idunn/kernel';
import type { Clearance } from '../guard/clearance.ts';

/** One thing that runs in a namespace. */
export interface Workload {
  /** `deployment/web`, `statefulset/db`, or a fleet's target. */
  readonly name: string;
  /** What it runs: an image reference, or a build's digest. */
  readonly release: string;
  readonly replicas: number;
}

/** What a release is made of. */
export type ReleaseSource =
  /** Rendered manifests, each a document as text. */
  | { readonly kind: 'manifests'; readonly documents: readonly string[] }
  /** A declaration of what should be running. It is carried and compared; applying it is refused with a remedy. */
  | { readonly kind: 'chart'; readonly chart: string; readonly release: string; readonly values: JsonObject }
  /** A build by its digest, with the signed export that carries its bytes. */
  | { readonly kind: 'build'; readonly build: Digest; readonly export: string };

/** How a rollout stands. */
export interface RolloutProgress {
  readonly workload: string;
  readonly updated: number;
  readonly ready: number;
  readonly wanted: number;
  /** What it waits for, in a sentence. */
  readonly waitingOn: string;
}

/** How waiting for a rollout ended. */
export type RolloutEnd =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly because: string }
  | { readonly kind: 'deadline'; readonly last: RolloutProgress | null };

export interface Placed {
  readonly namespace: string;
}

/** What can be read. Needs no clearance and changes nothing. */
export interface ReleaseReadings {
  /** What a workload runs now. */
  currentRelease(at: Placed & { readonly workload: string }): Promise<Evidence<string>>;
  workloads(at: Placed): Promise<Outcome<readonly Workload[]>>;
  /** Every namespace there is: generations are found among them. */
  namespaces(): Promise<Outcome<readonly string[]>>;
  /**
   * What must be applied elsewhere before the release can run there, such as the bytes of a build; `null` where a
   * release is fetched by its name.
   */
  exported(
    at: Placed & { readonly workload: string; readonly release: string },
  ): Promise<Outcome<ReleaseSource | null>>;
  /** The namespace that a host leads to. */
  hostOwner(host: string): Promise<Evidence<string>>;
  /** Waits for a rollout until it ends or `deadlineMs` have passed. */
  awaitRollout(
    at: Placed & { readonly workload: string; readonly deadlineMs: number },
    progress: (step: RolloutProgress) => void,
  ): Promise<RolloutEnd>;
}

/** What changes a slot. Each takes the clearance first, and answers when the change was accepted. */
export interface ReleaseChanges {
  setRelease(
    clearance: Clearance,
    to: Placed & { readonly workload: string; readonly release: string },
  ): Promise<Outcome<void>>;
  /** `workload` names the one thing that the source is for, where it is not the whole namespace. */
  apply(
    clearance: Clearance,
    to: Placed & { readonly source: ReleaseSource; readonly workload?: string },
  ): Promise<Outcome<void>>;
  /** Scales every workload to nothing and remembers how many there were. */
  sleep(clearance: Clearance, at: Placed & { readonly deadlineMs: number }): Promise<Outcome<void>>;
  /** Scales every workload to what was remembered, and answers when all of them are ready. */
  wake(clearance: Clearance, at: Placed & { readonly deadlineMs: number }): Promise<Outcome<void>>;
  /** Makes the host lead to a service of the namespace. */
  routeHost(clearance: Clearance, to: Placed & HostRoute): Promise<Outcome<void>>;
  /** Removes the namespace's own route for the host. */
  dropRoute(clearance: Clearance, at: Placed & { readonly host: string }): Promise<Outcome<void>>;
}

export interface HostRoute {
  readonly host: string;
  readonly service: string;
  readonly port: number;
  /** The name of the certificate; `null` for plain HTTP. */
  readonly tls: string | null;
}

/** A cluster, a fleet, or whatever else runs slots. */
export interface ReleaseOperations extends ReleaseReadings, ReleaseChanges {
  /** What is operated, for people. */
  readonly description: string;
}
