import type { LeaseRow, WorkloadHandle } from '@idunn/authority';
import type { Activation, ObservedRuntime, Presence } from '@idunn/readiness';
import type { Behaviour } from './behaviour.ts';
import { digestOf } from './sources.ts';

/** One simulated program: what it is, what it may do, and what it last said. */
export class Process {
  readonly activation: Activation;
  readonly handle: WorkloadHandle;
  readonly #runs: ObservedRuntime;
  /** Where its launcher stands; `none` for a program that is started as itself. */
  gate: 'none' | 'waiting' | 'passed';
  readonly behaviour: Behaviour;
  readonly stateful: boolean;
  readonly stateSchema: string | null;
  alive = true;
  /** A child that it has forked lives, and writes. */
  child = false;
  /** A part of its state is no database and has no row. */
  readonly besideRows: boolean;
  /** The engine's life that spawned it, which the kernel tells of its death whatever it has left behind. */
  readonly parent: object;
  /** Killed, and not gone yet. */
  ending = false;
  listening = false;
  /** It is stopped; what it is asked for meanwhile waits. */
  paused = false;
  /** Since when nothing is heard of it, by the monotonic clock. */
  quietSinceMs: number | null = null;
  readonly inbox: (() => void)[] = [];
  /** What it has said before. */
  readonly past: Presence[] = [];
  /** The observer that is there now has heard it. */
  joined = true;
  /** The old word that its connection repeats now. */
  repeats: Presence | null = null;
  sequence = 0;
  state: Presence['state'] | null = null;
  /** The epoch it was granted and has not been told off from. */
  granted: number | null = null;
  /** The highest epoch of a grant that its row did not confirm. */
  refused = 0;
  writing = false;
  lastWriteAtMs: number | null = null;
  relinquished: { readonly requestId: string; readonly epoch: number } | null = null;
  /** The rows as they stood when it was started. */
  copied: ReadonlyMap<string, LeaseRow> = new Map();
  open = 0;
  /** Requests that it has written and not answered yet. */
  unanswered = 0;

  constructor(made: {
    activation: Activation;
    pid: number;
    bootId: string;
    behaviour: Behaviour;
    sealed: `sha256:${string}`;
    stateSchema: string | null;
    gated: boolean;
    besideRows: boolean;
    parent: object;
  }) {
    const { activation, pid, bootId, behaviour, sealed, stateSchema } = made;
    this.gate = made.gated ? 'waiting' : 'none';
    this.activation = activation;
    this.besideRows = made.besideRows;
    this.parent = made.parent;
    this.behaviour = behaviour;
    this.stateful = stateSchema !== null;
    this.stateSchema = stateSchema;
    const identity = {
      kind: 'linux-process' as const,
      pid,
      startTime: String(pid * 7),
      bootId,
      controlGroup: `/idunn/${activation.activation}`,
      pidNamespace: 'pid:[1]',
    };
    this.handle = {
      version: 1,
      driver: 'process',
      target: activation.target,
      activation: activation.activation,
      identity,
    };
    this.#runs = {
      identity,
      executable: behaviour === 'other-binary' ? digestOf('another binary') : sealed,
      argv: digestOf('argv'),
      entry: null,
    };
  }

  /** What the driver sees in this process: the launcher, until it has become the program. */
  get observed(): ObservedRuntime {
    const launcher = { executable: digestOf('launcher'), argv: digestOf('launcher argv'), gate: 'waiting' } as const;
    return this.gate === 'waiting' ? { ...this.#runs, ...launcher } : this.#runs;
  }

  /** Somebody of it lives: the process that was started, or what it left behind. */
  get treeLives(): boolean {
    return this.alive || this.child;
  }

  /** The program itself runs in it. */
  get running(): boolean {
    return this.treeLives && this.gate !== 'waiting';
  }

  /** Its launches after the first lie. */
  relaunched = false;

  get lies(): boolean {
    return (
      this.behaviour === 'lies-about-incarnation' ||
      (this.behaviour === 'lies-when-relaunched' && this.relaunched && this.state === 'active')
    );
  }

  get id(): string {
    return this.activation.activation;
  }

  /** The newest word that the observer has of it: some send theirs to Idunn alone, once they are granted. */
  relayed(): Presence | null {
    const said = this.presence();
    const withheld = this.behaviour === 'leaves-the-observer-out' && said?.state === 'active';
    return withheld ? (this.past[0] ?? null) : said;
  }

  /** The newest word on its lease connection. */
  heard(): Presence | null {
    return this.repeats ?? this.presence();
  }

  /** Its own signed word, as it stands. */
  presence(): Presence | null {
    if (this.state === null) return null;
    const { activation } = this;
    const claimed = this.behaviour === 'claims-early' && this.granted === null ? 1 : null;
    return {
      header: {
        schema: 'idunn.presence/v1',
        issuer: activation.keyId,
        audience: { fleet: 'simulated', machine: 'local' },
        subject: this.id,
        requestId: `presence-${this.sequence}`,
        sequence: this.sequence,
      },
      target: activation.target,
      incarnation: this.lies ? `${activation.target}@${digestOf('another incarnation')}` : activation.incarnation,
      activation: this.id,
      state: this.state,
      pid: this.behaviour === 'other-process' ? 1 : this.handle.identity.pid,
      epoch: claimed ?? (this.state === 'active' || this.state === 'degraded' ? this.granted : null),
      endpoint: this.behaviour === 'other-endpoint' ? { host: '127.0.0.1', port: 1 } : activation.endpoint,
      stateSchema: this.behaviour === 'other-schema' ? 'events-v0' : this.stateSchema,
      capabilities: this.behaviour === 'other-capability' ? [{ name: 'undeclared', schema: 'v1' }] : [],
      detail: this.state === 'failed' ? 'the simulated program gave up' : '',
    };
  }
}
