import type { Server } from 'node:net';
import { ChannelServer } from './channel/server.ts';
import type { Commands } from './channel/session.ts';
import { type Machine, realMachine } from './edge/machine.ts';
import { type Program, realProgram } from './edge/program.ts';
import { IdunnError, messageOf } from './errors.ts';
import { type Handler, runHandlers, within } from './handlers.ts';
import { type Activation, readActivation } from './launch/directory.ts';
import type { Endpoint, LaunchDocument } from './launch/document.ts';
import { type Grant, LeaseHolder, type Relinquishment } from './lease/holder.ts';
import { ObserverLink } from './presence/observer-link.ts';
import type { Capability, PresenceState } from './presence/presence.ts';
import { Presenter } from './presence/presenter.ts';
import type { SqliteDriver } from './sqlite/driver.ts';
import type { GuardedStore } from './sqlite/guarded-store.ts';
import { StoreShelf } from './sqlite/shelf.ts';
import { prepareStandalone, type StandaloneOptions } from './standalone.ts';
import { runStop, STOP_LIMIT_MS, type StopHandler } from './stop.ts';

export interface ConnectOptions {
  /** The schema of the state that this program reads and writes, in its own words; required when it has state. */
  readonly stateSchema?: string;
  /** What this program offers, in its own words. */
  readonly capabilities?: readonly Capability[];
  /** How long the onStop handlers may take together. */
  readonly stopLimitMs?: number;
  /** Takes the SDK's own log lines, secrets already removed; standard error otherwise. */
  readonly log?: (line: string) => void;
}

export type GrantHandler = Handler<{ readonly epoch: number }>;
export type RelinquishHandler = Handler<void>;

/** Outside of tests always the real ones. */
export interface Edges {
  readonly machine: Machine;
  readonly program: Program;
}

const REAL: Edges = { machine: realMachine, program: realProgram };

/** How long asynchronous onRelinquish handlers may hold the answer back; the authority goes on without it anyway. */
const RELINQUISH_LIMIT_MS = 1_000;

/** A program's side of Idunn: who it is, how it is, and whether it may write. One for each process. */
export class Idunn {
  readonly #launch: LaunchDocument;
  readonly #activation: Activation;
  readonly #options: ConnectOptions;
  readonly #machine: Machine;
  readonly #program: Program;
  readonly #log: (line: string) => void;
  readonly #shelf: StoreShelf;
  readonly #lease: LeaseHolder;
  readonly #presenter: Presenter;
  readonly #channel: ChannelServer;
  readonly #observer: ObserverLink | null;
  readonly #grantHandlers: GrantHandler[] = [];
  readonly #relinquishHandlers: RelinquishHandler[] = [];
  readonly #stopHandlers: StopHandler[] = [];
  #health: PresenceState | 'starting' = 'starting';
  #detail = '';
  #endpoint: Endpoint | null = null;
  #earlyGrant: Grant | null = null;
  #unsaidFirstWrite: { readonly epoch: number; readonly atMs: number } | null = null;

  /**
   * Joins the Idunn that started this program: reads the activation directory, listens for the authority and looks for
   * the observer. Throws `IdunnError`: `workload-not-managed` outside of Idunn, `workload-launch-invalid` and its like
   * for a directory that cannot be trusted.
   */
  static async connect(options: ConnectOptions = {}, edges: Edges = REAL): Promise<Idunn> {
    const directory = edges.program.environment('IDUNN_ACTIVATION_DIRECTORY');
    if (directory === undefined) {
      throw new IdunnError('workload-not-managed', 'IDUNN_ACTIVATION_DIRECTORY is not set');
    }
    const activation = readActivation(directory, edges.program.environment('IDUNN_ACTIVATION'));
    if (activation.launch.state !== null && options.stateSchema === undefined) {
      const reason = `The state schema is ${activation.launch.state.schema}, and the program declares none`;
      throw new IdunnError('workload-schema-undeclared', reason);
    }
    const idunn = new Idunn(activation, options, edges);
    await idunn.#channel.listen(activation.channelPath);
    idunn.#observer?.start();
    return idunn;
  }

  /**
   * For development, without Idunn around: the program grants itself the lease of databases that Idunn does not manage.
   */
  static async standalone(options: StandaloneOptions & ConnectOptions, edges: Edges = REAL): Promise<Idunn> {
    const { activation, grant } = prepareStandalone(options, edges.machine);
    const idunn = new Idunn(activation, { stateSchema: activation.launch.state?.schema ?? '', ...options }, edges);
    idunn.#earlyGrant = grant;
    return idunn;
  }

  /** Whether Idunn started this process. */
  static isManaged(program: Program = realProgram): boolean {
    return program.environment('IDUNN_ACTIVATION_DIRECTORY') !== undefined;
  }

  private constructor(activation: Activation, options: ConnectOptions, { machine, program }: Edges) {
    const { launch, keys } = activation;
    const write = options.log ?? ((line: string): void => program.log(line));
    const log = (line: string): void => write(activation.secrets.redact(line));
    this.#launch = launch;
    this.#activation = activation;
    this.#options = options;
    this.#machine = machine;
    this.#program = program;
    this.#log = log;
    this.#shelf = new StoreShelf(launch.state?.stores ?? [], () => machine.processId(), log);
    const identity = { activation: launch.activation, stateId: launch.state?.stateId ?? null };
    this.#lease = new LeaseHolder(identity, this.#shelf.open, machine, {
      granted: (grant) => this.#granted(grant),
      changed: () => queueMicrotask(() => this.#say()), // After the answer that the change belongs to.
      firstWrite: (epoch, atMs) => this.#firstWrite(epoch, atMs),
      log,
    });
    this.#presenter = new Presenter({ ...launch, pid: program.pid, keys }, launch.presenceEveryMs, machine);
    this.#channel = new ChannelServer({ launch, key: keys[0], pid: program.pid }, this.#commands(), machine, log);
    this.#presenter.attach((presence) => this.#channel.presence(presence));
    this.#observer = this.#linkToObserver(log);
    program.onTermination(() => void this.#stop());
  }

  get target(): string {
    return this.#launch.target;
  }

  /** `target@sha256:…` */
  get incarnation(): string {
    return this.#launch.incarnation;
  }

  /** Public id of this launch. */
  get activation(): string {
    return this.#launch.activation;
  }

  /** The Git commit that this program was built from. */
  get revision(): string {
    return this.#launch.revision;
  }

  /** The epoch that this program writes under; `null` while it may not write. A write can be refused all the same. */
  get epoch(): number | null {
    return this.#lease.epoch;
  }

  /** Where Idunn wants the program to listen; `null` when the recipe asks for no endpoint. */
  get endpoint(): Endpoint | null {
    return this.#launch.endpoint;
  }

  /**
   * Opens a SQLite store of the state contract, guarded. Open it before `warm()`, and once: each call is another
   * connection. Throws `IdunnError` when the file could be another database than the authority means.
   */
  store(id: string, options: { readonly driver?: SqliteDriver } = {}): GuardedStore {
    return this.#shelf.take(id, this.#lease, options.driver);
  }

  /** The absolute path of a store of kind `files`. Nothing guards it: its fence is the end of the process. */
  path(id: string): string {
    return this.#shelf.path(id);
  }

  /** The exact content of a secret that the binding gives to this target. */
  secret(name: string): string {
    return this.#activation.secrets.value(name);
  }

  /** Listens on the endpoint that Idunn chose, and says so in the presence. */
  async listen(server: Server): Promise<Endpoint> {
    const { endpoint } = this.#launch;
    if (endpoint === null) throw new IdunnError('workload-no-endpoint', 'This launch has no endpoint to listen on');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(endpoint.port, endpoint.host, resolve);
    await promise;
    server.off('error', reject);
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : endpoint.port;
    this.listening({ host: endpoint.host, port });
    return { host: endpoint.host, port };
  }

  /** Says where the program listens, when it opened its endpoint by itself. */
  listening(endpoint: Endpoint): void {
    this.#endpoint = endpoint;
    this.#say();
  }

  /**
   * Ready to be granted the lease, or to become active: everything is loaded that can be. Every store is looked at
   * again.
   */
  warm(): void {
    this.#shelf.inspect();
    this.#become('warming', '');
    const grant = this.#earlyGrant;
    this.#earlyGrant = null;
    if (grant !== null) this.#lease.grant(grant);
  }

  /** Serves. A program with state becomes active by its grant; it calls this to end `degraded`. */
  active(): void {
    if (this.#launch.state !== null && this.#lease.epoch === null) {
      throw new IdunnError('workload-not-granted', 'A program with state cannot be active before it holds the lease');
    }
    this.#become('active', '');
  }

  /** Serves, but not as it should. */
  degraded(why: string): void {
    this.#become('degraded', why);
  }

  /** Cannot serve, and will not by itself. */
  failed(why: string): void {
    this.#become('failed', why);
  }

  /** Runs under each new grant, before `active` is said. It may write already. When it throws, `failed` is said. */
  onGrant(handler: GrantHandler): void {
    this.#grantHandlers.push(handler);
  }

  /** Runs when the lease is to be given up; new writes are refused already. Keep it short: the handover waits. */
  onRelinquish(handler: RelinquishHandler): void {
    this.#relinquishHandlers.push(handler);
  }

  /** Runs when the program is asked to end; then everything is closed and the process exits. */
  onStop(handler: StopHandler): void {
    this.#stopHandlers.push(handler);
  }

  /** Leaves Idunn: closes the stores, the channel and the link to the observer. The process goes on. */
  close(): void {
    this.#lease.stop();
    this.#presenter.stop();
    this.#observer?.stop();
    this.#channel.close();
    this.#shelf.close();
  }

  #stop(): Promise<void> {
    const limitMs = this.#options.stopLimitMs ?? STOP_LIMIT_MS;
    return runStop(this.#stopHandlers, limitMs, this.#machine, (code, why) => {
      if (why !== null) this.#log(why);
      this.close();
      this.#program.exit(code);
    });
  }

  #commands(): Commands {
    return {
      echo: () => this.#shelf.nonces(),
      relinquish: (request, done) => this.#relinquish(request, done),
      withdraw: (relinquishId) => this.#lease.withdraw(relinquishId),
      grant: (grant) => this.#grant(grant),
      welcomed: () => {
        this.#presenter.again();
        this.#sayFirstWrite();
      },
    };
  }

  #linkToObserver(log: (line: string) => void): ObserverLink | null {
    if (this.#launch.observer === null) return null;
    const link = new ObserverLink(this.#launch.observer.socket, this.#machine, () => this.#presenter.again(), log);
    this.#presenter.attach((presence) => link.send(presence));
    return link;
  }

  #grant(grant: Grant): void {
    if (this.#health === 'starting') this.#earlyGrant = grant;
    else this.#lease.grant(grant);
  }

  /** Without asynchronous handlers `active` is said in the same tick: the write gap is measured through here. */
  #granted({ epoch }: Grant): void {
    const running = runHandlers(this.#grantHandlers, { epoch });
    const activate = (): void => {
      if (this.#lease.epoch === epoch) this.#become('active', '');
    };
    if (running.kind === 'done') activate();
    else running.promise.then(activate, (error: unknown) => this.failed(`onGrant: ${messageOf(error)}`));
  }

  /** The answer goes out in the same tick when no handler is asynchronous. */
  #relinquish(request: Relinquishment, done: (lastWriteAtMs: number | null) => void): void {
    const held = this.#lease.relinquish(request);
    const answer = (): void => done(this.#lease.lastWriteAtMs);
    const running = runHandlers(held ? this.#relinquishHandlers : [], undefined);
    if (running.kind === 'done') answer();
    else void this.#awaitRelinquish(running.promise).then(answer);
  }

  async #awaitRelinquish(handlers: Promise<unknown>): Promise<void> {
    try {
      await within(handlers, RELINQUISH_LIMIT_MS, this.#machine);
    } catch (error) {
      this.#log(`onRelinquish: ${messageOf(error)}`);
    }
  }

  #firstWrite(epoch: number, atMs: number): void {
    this.#unsaidFirstWrite = { epoch, atMs };
    queueMicrotask(() => this.#sayFirstWrite()); // After the answer to whoever wrote.
  }

  #sayFirstWrite(): void {
    if (this.#unsaidFirstWrite === null || !this.#channel.open) return;
    this.#channel.announce('first-write', { ...this.#unsaidFirstWrite });
    this.#unsaidFirstWrite = null;
  }

  #become(health: PresenceState, detail: string): void {
    this.#health = health;
    this.#detail = this.#activation.secrets.redact(detail);
    this.#say();
  }

  #say(): void {
    if (this.#health === 'starting') return;
    this.#presenter.say({
      state: this.#health,
      epoch: this.#lease.epoch,
      endpoint: this.#endpoint,
      stateSchema: this.#launch.state === null ? null : (this.#options.stateSchema ?? null),
      capabilities: this.#options.capabilities ?? [],
      detail: this.#detail,
    });
  }
}
