import type { Digest } from '@idunn/kernel';

/** `target@sha256:…`, the digest of the Expected document. */
export type IncarnationKey = `${string}@sha256:${string}`;

/** The sanitized projection of a sealed release under its plan: no host path, user or secret. Its digest is the key. */
export interface Expected {
  readonly schema: 'idunn.expected/v1';
  readonly fleet: string;
  readonly machine: string;
  readonly target: string;
  readonly plan: Digest;
  readonly release: Digest;
  readonly build: Digest;
  readonly revision: string;
  /** What the driver must observe to run. */
  readonly runtime: {
    readonly driver: 'process';
    readonly executable: Digest;
    readonly entry: Digest | null;
  };
  /** The enrolled service signer (the trust anchor is kept per target). */
  readonly signer: string;
  readonly health: { readonly kind: 'idunn' | 'attended'; readonly freshnessMs: number };
  readonly state: { readonly stateId: string; readonly schema: string } | null;
  readonly endpoint: {
    readonly protocol: 'http' | 'tcp';
    readonly host: string;
    readonly fromPort: number;
    readonly toPort: number;
  } | null;
  readonly capabilities: readonly { readonly name: string; readonly schema: string }[];
}

/** One launch of an incarnation, minted before it. Public: the private key never leaves the activation directory. */
export interface Activation {
  readonly schema: 'idunn.activation/v1';
  readonly activation: string;
  readonly incarnation: IncarnationKey;
  readonly target: string;
  /** Raw Ed25519 public key, base64. */
  readonly publicKey: string;
  readonly keyId: string;
  /** Where the workload is to listen. */
  readonly endpoint: { readonly host: string; readonly port: number } | null;
}

/** What the driver saw to run: the observer holds the presence against it. */
export interface ObservedRuntime {
  readonly identity: RuntimeIdentity;
  readonly executable: Digest;
  /** Digest of argv as RFC 8785 JSON of its words. */
  readonly argv: Digest;
  readonly entry: { readonly device: string; readonly inode: string; readonly digest: Digest } | null;
  /**
   * `waiting`: a launcher of Idunn's stands in this process and has not become the program yet; executable, argv and
   * entry are the launcher's own. Absent once the program itself runs, and for every start without a gate.
   */
  readonly gate?: 'waiting';
}

/** Kind-tagged, so that systemd units, containers and other machines can join. */
export interface RuntimeIdentity {
  readonly kind: 'linux-process';
  readonly pid: number;
  /** Field 22 of /proc/PID/stat, in clock ticks since boot, as decimal text. */
  readonly startTime: string;
  readonly bootId: string;
  readonly controlGroup: string | null;
  readonly pidNamespace: string;
}
