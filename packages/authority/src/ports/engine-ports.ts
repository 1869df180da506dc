import type { Clock, Ids, RecordStore, Timers } from '@idunn/kernel';
import type { ReleasePort } from '@idunn/release';
import type { ChannelPort } from './channel-port.ts';
import type { FreezePort } from './freeze-port.ts';
import type { LeasePort } from './lease-port.ts';
import type { Helper, LinkPort } from './link-port.ts';
import type { ObserverPort } from './observer-port.ts';
import type { RoutePort } from './route-port.ts';
import type { WorkloadPort } from './workload-port.ts';

/** Everything that the engine may touch. It holds no other way to the world. */
export interface EnginePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  /** Opened with `RECORD_KINDS`. */
  readonly store: RecordStore;
  readonly release: ReleasePort;
  readonly workload: WorkloadPort;
  readonly channel: ChannelPort;
  readonly lease: LeasePort;
  readonly route: RoutePort;
  readonly freeze: FreezePort;
  /**
   * The observer that correlates this target: the observer program's link, or for the observer's own target the
   * daemon's bootstrap correlation. The same object for every call with the same target; the engine subscribes to each
   * object once.
   */
  observerFor(target: string): ObserverPort;
  /** The links to the fleet's helpers, whose loss is an incident; what is left out is not looked at. */
  readonly links?: Readonly<Partial<Record<Helper, LinkPort>>>;
}

export interface EngineOptions {
  readonly fleet: string;
  readonly machine: string;
  /** The observer's own target; every other target waits for it. `null` where none is managed here. */
  readonly observerTarget: string | null;
  /** Every target that has a binding. A command for another is refused before anything durable. */
  readonly targets: () => readonly string[];
  /** Somebody is told of incidents, and `noteTold` says when: what was not taken is kept and told again. */
  readonly notifies?: boolean;
  /** Commands that may wait behind the one at work on a target, at most `QUEUE_LIMIT`, which is also the default. */
  readonly queueDepth?: () => number;
  /** Told of a fault of the store or of our own code; the target pauses and tries again. For the daemon's log. */
  readonly onFault?: (fault: unknown, target: string) => void;
}
