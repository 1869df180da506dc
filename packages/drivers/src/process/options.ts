import type { LeasePort } from '@idunn/authority';
import type { Clock, Digest, Outcome, SigningKey, Timers } from '@idunn/kernel';
import type { ObserverEndpoint } from './launch-document.ts';

/** What the process driver is made of. Paths are absolute and belong to this machine. */
export interface ProcessDriverOptions {
  readonly fleet: string;
  readonly machine: string;
  readonly roots: {
    /** Activation directories; keep it short, a socket path has 107 bytes. */
    readonly runtime: string;
    readonly logs: string;
  };
  readonly authorityKey: SigningKey;
  /** The service signer of a target, for `signer.key`. */
  readonly signerKeyFor: (target: string) => Promise<Outcome<SigningKey>>;
  /** Where the target's programs reach the observer; `null` for the observer itself. */
  readonly observerEndpoint: (target: string) => ObserverEndpoint | null;
  /** Absolute path of a file of an installed release; an empty `path` names the artifact itself. */
  readonly artifactFile: (release: Digest, artifact: string, path: string) => string;
  /** Needed to rehearse attended programs. */
  readonly rehearsal?: {
    /** Where copies of states are made: a place of its own with room for them. */
    readonly directory: string;
    /** The program that runs another and probes it, by argv; the path of its orders is added. */
    readonly rehearser: readonly [string, ...string[]];
  };
  /** Who holds a state, where programs have users of their own; without it their states are never opened to them. */
  readonly lease?: Pick<LeasePort, 'read'>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Look for a control group hierarchy (the default), or do without. */
  readonly controlGroups?: 'when-available' | 'never';
  /** How often the deaths of watched processes are looked for beside the events, in milliseconds. */
  readonly repairMs?: number;
  /** How long a program that SIGKILL was sent to may take to be seen gone, in milliseconds. */
  readonly killMs?: number;
  /** Shortest time between two looks at one log's size, in milliseconds. */
  readonly logLookMs?: number;
}
