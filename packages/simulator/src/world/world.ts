import type { LeaseRow, OwnerClaim, RouteMember } from '@idunn/authority';
import type { Activation, Expected, IncarnationKey } from '@idunn/readiness';
import type { Plan } from '@idunn/release';
import type { Dice } from '../seed.ts';
import type { VirtualTime } from '../virtual-time.ts';
import type { Behaviour } from './behaviour.ts';
import { Ledger } from './ledger.ts';
import { Pace } from './pace.ts';
import type { Process } from './process.ts';

/** The state of one target where its writes go. */
export interface StateRoot {
  /** In the stores, compared by each write. */
  readonly rows: Map<string, LeaseRow>;
  /** Beside the claim, for a program that compares nothing. */
  readonly file: Map<string, LeaseRow>;
  claim: OwnerClaim | null;
}

export interface Route {
  members: readonly RouteMember[];
  /** The stage that it was published from. */
  served: string | null;
  generation: number;
  /** By the monotonic clock. */
  holdUntilMs: number;
  held: { readonly request: number; readonly since: number }[];
  report: { held: number; failed: number; longestHoldMs: number };
}

/** What the observer keeps of one incarnation. */
export interface Projection {
  readonly expected: Expected;
  activation: Activation | null;
  observed: Process['observed'] | null;
  /** Activations that may come back, and those that never do (I5). */
  replaced: readonly string[];
  spent: readonly string[];
  /** The newest receipt that it signed. */
  ready: { receipt: string; activation: string; epoch: number | null; sequence: number; observedAtMs: number } | null;
}

/** How often a driver looks at what it watches without being told of anything. */
const SWEEP_MS = 5_000;

/** What cannot be looked at for a while: no process of a target, its lease row and claim, or its route. */
export type Unreadable = 'process' | 'lease' | 'route';

export interface StagedRoute {
  readonly stage: string;
  readonly members: readonly RouteMember[];
}

/** Everything outside Idunn: disks, processes, proxy, observer. It outlives every engine. */
export class World {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly pace: Pace;
  readonly ledger: Ledger;
  readonly plans = new Map<string, Plan>();
  /** Commit to the ref that it came from. */
  readonly refs = new Map<string, string>();
  readonly collected: (readonly string[])[] = [];
  readonly states = new Map<string, StateRoot>();
  readonly routes = new Map<string, Route>();
  /** Route to what was staged for it last and is not served yet. */
  readonly staged = new Map<string, StagedRoute>();
  /** What a proxy that lags has accepted and does not serve yet. */
  readonly accepted = new Map<string, StagedRoute>();
  readonly activations = new Map<string, Activation>();
  /** The fleet that minted each activation. */
  readonly fleets = new Map<string, string>();
  readonly processes = new Map<string, Process>();
  readonly projections = new Map<IncarnationKey, Projection>();
  /** The executable of each incarnation, as it was published first. */
  readonly sealedAs = new Map<IncarnationKey, string>();
  readonly spent = new Set<string>();
  readonly frozen = new Map<string, { by: string; reason: string } | 'unreadable'>();
  readonly held: World['frozen'] = new Map();
  /** What cannot be looked at now, as `process app`. */
  readonly unreadable = new Set<string>();
  /** Targets whose builds take minutes. */
  readonly slowBuilds = new Set<string>();
  /** How often a driver looked at a process. */
  looks = 0;
  /** Targets whose processes lie on a disk that does not answer: a look at them never comes back. */
  readonly stuck = new Set<string>();
  /** How long one that was killed is on its way out: its connections are closed, and nothing can be read of it. */
  endingMs = 0;
  /** How long the proxy takes to serve what it has accepted. */
  proxyLagMs = 0;
  observerUp = true;
  /** How many observers there have been after the first. */
  observers = 0;
  /** What every program that is launched from now on does instead of its own. */
  mute: Behaviour | null = null;
  nextPid = 100;
  nextPort = 20_000;
  nextStage = 1;
  /** Listeners of the engine that lives now. */
  listeners: {
    died(target: string, activation: string): void;
    correlated(incarnation: IncarnationKey): void;
    said(process: Process): void;
    firstWrite(process: Process, epoch: number): void;
    closed(process: Process): void;
    link(state: 'up' | 'down'): void;
  } = silent();

  constructor(time: VirtualTime, dice: Dice) {
    this.time = time;
    this.dice = dice;
    this.pace = new Pace(time);
    this.ledger = new Ledger(time, this.pace);
  }

  stateOf(target: string): StateRoot {
    const known = this.states.get(target);
    if (known !== undefined) return known;
    const made: StateRoot = { rows: new Map(), file: new Map(), claim: null };
    this.states.set(target, made);
    return made;
  }

  route(name: string): Route | undefined {
    return this.routes.get(name);
  }

  /** Ends what a process has left behind. */
  empty(process: Process): void {
    if (!process.child) return;
    process.child = false;
    this.ledger.note({ kind: 'emptied', activation: process.id });
  }

  /** Ends a process of its own accord or by a signal; what it has forked lives on. */
  end(process: Process, asked: boolean): void {
    if (!process.alive) return;
    process.alive = false;
    process.writing = false;
    if (asked && process.unanswered > 0) {
      this.ledger.note({ kind: 'cut', activation: process.id, requests: process.unanswered });
    }
    this.ledger.note({ kind: 'ended', activation: process.id, asked });
    this.time.after(this.toldOfAfterMs(process), () => {
      if (this.endingMs === 0) this.listeners.died(process.activation.target, process.id);
      this.listeners.closed(process);
    });
    if (this.endingMs === 0) return;
    process.ending = true;
    this.time.after(this.endingMs, () => {
      process.ending = false;
      this.listeners.died(process.activation.target, process.id);
    });
  }

  /** The pipe that tells of a death is held by what it forked as well: then only its parent, or a sweep, notices. */
  toldOfAfterMs(process: Process): number {
    return process.child && process.parent !== this.listeners ? this.dice.between(1, SWEEP_MS) : 1;
  }

  /** Engages or clears an operator's stop. */
  stop(stop: 'freeze' | 'hold', target: string, engaged: { by: string; reason: string } | 'unreadable' | null): void {
    const stops = stop === 'freeze' ? this.frozen : this.held;
    if (engaged === null) stops.delete(target);
    else stops.set(target, engaged);
    this.ledger.note({ kind: 'stop', stop, target, engaged: engaged !== null });
  }

  /** The machine starts anew: no process is left, and nobody hears of any death. */
  reboot(): void {
    this.ledger.note({ kind: 'reboot' });
    for (const process of this.processes.values()) {
      process.child = false;
      if (!process.alive) continue;
      process.alive = false;
      process.writing = false;
      this.ledger.note({ kind: 'ended', activation: process.id, asked: false });
    }
    this.time.reboot();
  }

  /** Whom every row of the place names; `null` when they name nobody or not the same one. */
  namedIn(target: string, place: 'rows' | 'file'): { activation: string; epoch: number } | null {
    const rows = [...this.stateOf(target)[place].values()];
    const first = rows[0];
    if (first === undefined || first.activation === null) return null;
    const { activation, epoch } = first;
    return rows.every((row) => row.activation === activation && row.epoch === epoch) ? { activation, epoch } : null;
  }

  /** Whom the target's lease names, in whichever place it moved last. */
  named(target: string): { activation: string; epoch: number } | null {
    const [rows, file] = [this.namedIn(target, 'rows'), this.namedIn(target, 'file')];
    return (file?.epoch ?? 0) > (rows?.epoch ?? 0) ? file : rows;
  }
}

/** Nobody listens: an engine has died and the next has not come. */
export const silent = (): World['listeners'] => ({
  died: () => undefined,
  correlated: () => undefined,
  said: () => undefined,
  firstWrite: () => undefined,
  closed: () => undefined,
  link: () => undefined,
});
