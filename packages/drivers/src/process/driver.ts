import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type {
  Exit,
  LaunchRequest,
  MintRequest,
  RehearsalRequest,
  RunningLaunch,
  StopAnswer,
  WorkloadEvent,
  WorkloadHandle,
  WorkloadPort,
} from '@idunn/authority';
import { type Digest, type Evidence, type Outcome, ok, seen, unknown } from '@idunn/kernel';
import type { Activation, ObservedRuntime } from '@idunn/readiness';
import type { LaunchContract } from '@idunn/release';
import { type ActivationFiles, activationFiles, isSegment } from './activation-directory.ts';
import { isAttended } from './attended.ts';
import { carriersOf } from './carriers.ts';
import { findGroupRoom, parseHierarchies } from './control-group.ts';
import { digestBook } from './digest-book.ts';
import { FileDigests } from './file-digests.ts';
import { isDirectory } from './files.ts';
import { findProcess } from './find.ts';
import { openGate } from './gate/open-gate.ts';
import { ownStandpoint } from './identity.ts';
import { keptPorts } from './kept-ports.ts';
import { Launches } from './launches.ts';
import { findPrlimit } from './limits.ts';
import { redactorFor, tailOf } from './log-file.ts';
import { LogKeeper, scrubLogs } from './log-keeper.ts';
import { forgetOldLogs } from './log-retention.ts';
import { Mint, readActivation } from './mint.ts';
import { observeProcess } from './observe.ts';
import type { ProcessDriverOptions } from './options.ts';
import { endAll, insideTree, type OthersEnded } from './others.ts';
import { Ports } from './ports.ts';
import { Rehearsals } from './rehearsal/rehearsals.ts';
import { markGone, removeActivation } from './retire.ts';
import { clearGroups, groupOf, handleOf, type Machine, runsAs, type StartSite, startProgram } from './start.ts';
import { stopTree } from './stop.ts';
import { readTicket, type Ticket } from './ticket.ts';
import { type Opening, StateKeeper } from './user/keeper.ts';
import { DeathWatch } from './watch.ts';

const REPAIR_MS = 5_000;
const KILL_MS = 5_000;
const LOG_LOOK_MS = 250;
/** A death may be seen in /proc a moment before the parent is told of it. */
const EXIT_TOLD_MS = 100;

/** The user of an activation, and whether another one of its target may run as the same at the same time. */
export interface Separation {
  readonly uid: number;
  readonly separation: 'user-per-target' | 'user-per-workload';
}

/** The workload port on plain Linux processes that outlive the daemon. */
export interface ProcessDriver extends WorkloadPort {
  /** Ends processes that carry the activation's id but stand outside its tree: an activation is one launch (I1). */
  endOthers(handle: WorkloadHandle): Promise<OthersEnded>;
  /**
   * Lets the launcher of a gated start become its program: exactly this process, and only while the lease row names its
   * activation at this epoch. Answers once the program runs; safe to repeat.
   */
  openGate(handle: WorkloadHandle, grant: { readonly epoch: number }): Promise<Outcome<'open'>>;
  /**
   * Ends what rehearsals have left that a crash cut off: called when a daemon begins. Answers, in words, what cannot be
   * ended.
   */
  endRehearsals(): Promise<readonly string[]>;
  /**
   * Opens its state to the user of an activation that the lease row names, and to nobody else; called before the grant
   * is delivered, safe to repeat. Nothing happens where the daemon's own user runs the program.
   */
  openState(activation: string): Promise<Outcome<'open'>>;
  /** Whom an activation runs as; `null`: the daemon's own user. */
  runsAs(activation: string): Promise<Separation | null>;
  /** Where an activation's program listens for the authority. */
  socketPath(activation: string): string;
  /** The activation as it was minted, from the authority's own signed record. */
  activation(activation: string): Promise<Outcome<Activation>>;
  /** Documents, keys and secrets for whoever speaks for an attended program; the program itself cannot reach them. */
  activationDirectory(activation: string): string;
  /** Whether the activation's launch document says that its program is attended. */
  isAttended(activation: string): Promise<boolean>;
  /** The log's file; its rotated forerunners end in `.1`, `.2`, … Show its text through `redact` only (F30). */
  logPath(target: string, activation: string): string;
  redact(activation: string, text: string): Promise<string>;
  /** Tells every process that is watched from then on, once each time that it is. */
  onWatch(listener: (handle: WorkloadHandle) => void): void;
  /** Ends watching; nothing that runs is touched. */
  close(): void;
}

/**
 * Makes the driver. Looks at once for a control group hierarchy by trying it, which moves this process in and out of a
 * probe group.
 */
export function createProcessDriver(options: ProcessDriverOptions): ProcessDriver {
  return new LinuxProcesses(options);
}

class LinuxProcesses implements ProcessDriver {
  readonly #options: ProcessDriverOptions;
  readonly #machine: Machine;
  readonly #ports: Ports;
  readonly #launches: Launches;
  readonly #mint: Mint;
  readonly #deaths: DeathWatch;
  readonly #logs: LogKeeper;
  readonly #rehearsals: Rehearsals | null;
  readonly #states: StateKeeper | null;
  readonly #digests: FileDigests;
  /** How children of this daemon ended, until they are retired. */
  readonly #ends = new Map<string, Promise<Exit>>();
  readonly #watchers: ((handle: WorkloadHandle) => void)[] = [];
  readonly #starting = new Map<string, Promise<Outcome<WorkloadHandle>>>();

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
    const hierarchies = parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'));
    const from = ownStandpoint(options.clock.bootId);
    const room = options.controlGroups === 'never' ? null : findGroupRoom(hierarchies, options.fleet);
    this.#machine = { from, hierarchies, room, prlimit: findPrlimit() };
    this.#digests = new FileDigests(digestBook(join(options.roots.runtime, 'digests'), options.clock));
    this.#ports = new Ports(() => keptPorts(options.roots.runtime, from));
    this.#launches = new Launches(options.roots.runtime);
    this.#mint = new Mint(options, this.#ports);
    this.#deaths = new DeathWatch(from, options.timers, options.repairMs ?? REPAIR_MS);
    this.#logs = new LogKeeper(options.timers, options.logLookMs ?? LOG_LOOK_MS);
    this.#rehearsals = this.#makeRehearsals();
    this.#states = options.lease === undefined ? null : new StateKeeper(options.lease);
  }

  mint(request: MintRequest): Promise<Outcome<Activation>> {
    return this.#mint.mint(request);
  }

  start(request: LaunchRequest): Promise<Outcome<WorkloadHandle>> {
    const { activation } = request.activation;
    const running = this.#starting.get(activation);
    if (running !== undefined) return running;
    const ended = Promise.withResolvers<Exit>();
    if (!this.#ends.has(activation)) this.#ends.set(activation, ended.promise);
    const started = this.#startSettled(request, {
      options: this.#options,
      machine: this.#machine,
      files: this.#files(activation),
      log: this.logPath(request.target, activation),
      onExit: (code, signal) => {
        ended.resolve({ code, signal });
        this.#deaths.look(activation);
      },
    }).finally(() => this.#starting.delete(activation));
    this.#starting.set(activation, started);
    return started;
  }

  /** A state is nobody's to write before its grant, the operator's own files in it included (I1). */
  async #startSettled(request: LaunchRequest, site: StartSite): Promise<Outcome<WorkloadHandle>> {
    const { launch, state, target } = request;
    if (launch.identity !== undefined && state !== null && this.#states !== null) {
      const runs = await runsAs(request, site.files);
      const { activation } = request.activation;
      const lives = async (other: string): Promise<boolean> => (await this.find(target, other)).kind !== 'absent';
      if (runs !== null) {
        const settled = await this.#states.settle({ activation, state, runs }, lives);
        if (!settled.ok) return settled;
      }
    }
    return startProgram(request, site);
  }

  async openState(activation: string): Promise<Outcome<'open'>> {
    const opening = await this.#opening(activation);
    return opening === null || this.#states === null ? ok('open') : this.#states.open(opening);
  }

  async runsAs(activation: string): Promise<Separation | null> {
    const ticket = this.#ticket(activation);
    if (ticket?.runs === undefined) return null;
    const separation = ticket.alone === true ? 'user-per-workload' : 'user-per-target';
    return { uid: ticket.runs.uid, separation };
  }

  async rehearse(request: RehearsalRequest, signal: AbortSignal): Promise<Outcome<'passed'>> {
    if (this.#rehearsals === null) throw new TypeError('this driver was made without a rehearser');
    return this.#rehearsals.run(request, signal);
  }

  async endRehearsals(): Promise<readonly string[]> {
    return (await this.#rehearsals?.sweep()) ?? [];
  }

  async find(target: string, activation: string): Promise<Evidence<WorkloadHandle>> {
    const files = this.#files(activation);
    const launchedFor = this.#ticket(activation)?.target ?? target;
    // A lease row may hold any words: what another target launched is found, and so ended, for nobody else (F12).
    if (launchedFor !== target) return unknown(`it is a launch of ${launchedFor}`);
    const { from, room } = this.#machine;
    const expectedGroup = groupOf(this.#machine, activation);
    const found = await findProcess({ activation, files, from, unified: room?.hierarchy ?? null, expectedGroup });
    return found.kind === 'seen' ? seen(handleOf(target, activation, found.value.identity, files)) : found;
  }

  async running(target: string): Promise<Evidence<readonly RunningLaunch[]>> {
    const launches = await this.#launches.of(target);
    if (launches.kind !== 'seen') return launches;
    const running: RunningLaunch[] = [];
    for (const activation of launches.value) {
      const found = await this.find(target, activation);
      if (found.kind === 'absent') continue;
      running.push({ activation, pid: found.kind === 'seen' ? found.value.identity.pid : null });
    }
    return seen(running);
  }

  observe(handle: WorkloadHandle, release: Digest): Promise<Evidence<ObservedRuntime>> {
    return observeProcess(handle, release, this.#files(handle.activation), this.#digests, this.#machine.from);
  }

  async stop(handle: WorkloadHandle, graceMs: number): Promise<StopAnswer> {
    const ticket = this.#ticket(handle.activation);
    const answer = await stopTree(handle, graceMs, {
      from: this.#machine.from,
      timers: this.#options.timers,
      unified: this.#machine.room?.hierarchy ?? null,
      fifo: this.#files(handle.activation).alive,
      singleProcess: ticket?.singleProcess === true,
      killMs: this.#options.killMs ?? KILL_MS,
    });
    if (answer.kind === 'gone') {
      clearGroups(handle.activation, this.#machine, handle.identity.controlGroup, this.#options.fleet);
      // Where one ends before the next starts, the next may have the same port.
      this.#ports.forget(handle.activation);
      await this.#endState(handle.activation);
    }
    return answer;
  }

  /** Throws when the activation's tree is seen to live: retiring it would lose the means to find it. */
  async retire(target: string, activation: string): Promise<void> {
    const found = await this.find(target, activation);
    if (found.kind === 'seen') throw new Error(`activation ${activation} is retired while it lives`);
    const files = this.#files(activation);
    const ticket = this.#ticket(activation);
    const log = this.logPath(target, activation);
    this.#deaths.forget(activation);
    this.#ends.delete(activation);
    this.#logs.drop(log);
    if (ticket !== null) {
      this.#logs.finish(log, ticket.log);
      await this.#endState(activation);
      await scrubLogs(log, ticket.log.files, await redactorFor(files.keptSecrets));
      clearGroups(activation, this.#machine, ticket.controlGroup, this.#options.fleet);
    }
    if (found.kind === 'absent') await markGone(files);
    await removeActivation(files);
    this.#ports.forget(activation);
    if (ticket !== null) await forgetOldLogs(dirname(log), (other) => isDirectory(this.#files(other).own));
  }

  async logTail(target: string, activation: string, lines: number): Promise<readonly string[]> {
    return tailOf(this.logPath(target, activation), lines, await redactorFor(this.#files(activation).keptSecrets));
  }

  async lastExit(activation: string): Promise<Exit | null> {
    const ended = this.#ends.get(activation);
    if (ended === undefined) return null;
    const patience = Promise.withResolvers<null>();
    const withdraw = this.#options.timers.after(EXIT_TOLD_MS, () => patience.resolve(null));
    return Promise.race([ended, patience.promise]).finally(withdraw);
  }

  watch(handle: WorkloadHandle): void {
    this.#deaths.watch(handle, this.#files(handle.activation).alive);
    this.#keepLog(handle);
    for (const listener of this.#watchers) listener(handle);
  }

  onWatch(listener: (handle: WorkloadHandle) => void): void {
    this.#watchers.push(listener);
  }

  subscribe(listener: (event: WorkloadEvent) => void): void {
    this.#deaths.subscribe(listener);
  }

  async endOthers(handle: WorkloadHandle): Promise<OthersEnded> {
    const { from } = this.#machine;
    const { timers, killMs = KILL_MS } = this.#options;
    const carriers = await carriersOf(handle.activation, from);
    const inside = insideTree(handle.identity, this.#machine.room);
    return endAll(
      carriers.filter(({ pid }) => !inside(pid)),
      { from, timers, killMs },
    );
  }

  openGate(handle: WorkloadHandle, { epoch }: { readonly epoch: number }): Promise<Outcome<'open'>> {
    const { timers } = this.#options;
    return openGate(handle, epoch, { files: this.#files(handle.activation), from: this.#machine.from, timers });
  }

  socketPath(activation: string): string {
    return this.#files(activation).socket;
  }

  activation(activation: string): Promise<Outcome<Activation>> {
    const { fleet, machine, authorityKey } = this.#options;
    return readActivation(this.#files(activation), { fleet, machine }, authorityKey, activation);
  }

  activationDirectory(activation: string): string {
    return this.#files(activation).own;
  }

  isAttended(activation: string): Promise<boolean> {
    const { fleet, machine, authorityKey } = this.#options;
    return isAttended(this.#files(activation), { fleet, machine }, authorityKey, activation);
  }

  logPath(target: string, activation: string): string {
    if (!isSegment(target) || !isSegment(activation)) throw new TypeError('a log is named by plain path segments');
    return join(this.#options.roots.logs, target, `${activation}.log`);
  }

  async redact(activation: string, text: string): Promise<string> {
    const redactor = await redactorFor(this.#files(activation).keptSecrets);
    return Buffer.from(redactor.redact(Buffer.from(text).toString('latin1')), 'latin1').toString('utf8');
  }

  close(): void {
    this.#deaths.close();
    this.#logs.close();
  }

  #makeRehearsals(): Rehearsals | null {
    const { rehearsal } = this.#options;
    if (rehearsal === undefined) return null;
    const site = {
      options: this.#options,
      machine: this.#machine,
      logs: this.#logs,
      borrowPort: (id: string, endpoint: LaunchContract['endpoint']) => this.#ports.promise(id, endpoint, []),
      returnPort: (id: string) => this.#ports.forget(id),
    };
    return new Rehearsals(site, rehearsal);
  }

  #keepLog({ target, activation }: WorkloadHandle): void {
    try {
      const ticket = this.#ticket(activation);
      if (ticket !== null) this.#logs.keep(this.logPath(target, activation), ticket.log);
    } catch {
      // A ticket that cannot be read is told where its process is observed.
    }
  }

  async #opening(activation: string): Promise<Opening | null> {
    const ticket = this.#ticket(activation);
    if (ticket?.runs === undefined || ticket.state === undefined) return null;
    return { activation, state: ticket.state, runs: ticket.runs };
  }

  /** What cannot be closed now is closed before the next start. */
  async #endState(activation: string): Promise<void> {
    if (this.#states === null) return;
    const opening = await this.#opening(activation);
    if (opening !== null) await this.#states.end(opening);
  }

  #ticket(activation: string): Ticket | null {
    const ticket = readTicket(this.#files(activation));
    return ticket === 'damaged' ? null : ticket;
  }

  #files(activation: string): ActivationFiles {
    return activationFiles(this.#options.roots.runtime, activation);
  }
}
