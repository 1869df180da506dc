import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { RehearsalRequest } from '@idunn/authority';
import { type Json, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { LaunchContract } from '@idunn/release';
import { carriersOf } from '../carriers.ts';
import { findProcess } from '../find.ts';
import { redactorFor, tailOf } from '../log-file.ts';
import type { LogKeeper } from '../log-keeper.ts';
import type { ProcessDriverOptions } from '../options.ts';
import { endAll } from '../others.ts';
import { clearGroups, groupOf, handleOf, type Machine, startProgram } from '../start.ts';
import { stopTree } from '../stop.ts';
import { type Place, Places, removePlace } from './place.ts';
import { readResult } from './result.ts';
import { runCopier } from './run-copier.ts';
import { findSandbox } from './sandbox.ts';
import { stage } from './stage.ts';

/** How long the rehearser itself may take to begin and to end, in milliseconds. */
const REHEARSER_MS = 20_000;
/** How long a process that SIGKILL was sent to may take to be seen gone, in milliseconds. */
const KILL_MS = 5_000;
/** Last lines of the program's log in a refusal (F7). */
const LAST_LINES = 20;

export interface RehearsalSite {
  readonly options: ProcessDriverOptions;
  readonly machine: Machine;
  readonly logs: LogKeeper;
  /** A port that no activation was promised, until it is returned. */
  readonly borrowPort: (id: string, endpoint: LaunchContract['endpoint']) => Promise<Outcome<number | null>>;
  readonly returnPort: (id: string) => void;
}

/** Runs programs on copies of their state, and leaves nothing of it. */
export class Rehearsals {
  readonly #site: RehearsalSite;
  readonly #rehearsal: NonNullable<ProcessDriverOptions['rehearsal']>;
  readonly #places: Places;
  /** Ids of this daemon's own; any other place was left by one that died. */
  readonly #running = new Set<string>();
  #sandbox: Promise<string | null> | null = null;

  constructor(site: RehearsalSite, rehearsal: NonNullable<ProcessDriverOptions['rehearsal']>) {
    this.#site = site;
    this.#rehearsal = rehearsal;
    this.#places = new Places(rehearsal.directory, site.options.roots.runtime);
  }

  async run(request: RehearsalRequest, signal: AbortSignal): Promise<Outcome<'passed'>> {
    await this.sweep();
    const place = this.#places.of(randomUUID());
    this.#running.add(place.id);
    try {
      await this.#places.begin(place);
      const outcome = await this.#onCopy(request, place, signal);
      const left = await this.#end(place);
      return left === null || !outcome.ok ? outcome : failed(request, left);
    } finally {
      this.#running.delete(place.id);
    }
  }

  /** Ends what a crash left of rehearsals: processes first, then their copies (I6). Answers what cannot be ended. */
  async sweep(): Promise<readonly string[]> {
    const left: string[] = [];
    for (const place of await this.#places.all()) {
      const why = this.#running.has(place.id) ? null : await this.#end(place);
      if (why !== null) left.push(why);
    }
    return left;
  }

  async #onCopy(request: RehearsalRequest, place: Place, signal: AbortSignal): Promise<Outcome<'passed'>> {
    const { target, state, rehearsal } = request;
    const orders = { from: state.root, to: place.copy, stores: state.stores, limitBytes: rehearsal.copyLimitBytes };
    const { timers } = this.#site.options;
    const copied = await runCopier(orders, { activation: place.id, timers, signal });
    if (signal.aborted) return failed(request, WITHDRAWN);
    const named = `The state of ${target}`;
    switch (copied.kind) {
      case 'too-large': {
        const why = `${named} has ${copied.bytes} bytes or more; a copy may have ${rehearsal.copyLimitBytes}.`;
        return refused(refusal('rehearsal-too-large', why));
      }
      case 'no-space': {
        const why = `${named} has ${copied.bytes} bytes; ${copied.freeBytes} are free where it would be copied.`;
        return refused(refusal('rehearsal-no-space', why));
      }
      case 'failed':
        return failed(request, `its state could not be copied: ${copied.because}`);
      case 'copied':
        return this.#play(request, place, signal);
    }
  }

  async #play(request: RehearsalRequest, place: Place, signal: AbortSignal): Promise<Outcome<'passed'>> {
    const { options, machine, logs, borrowPort } = this.#site;
    this.#sandbox ??= findSandbox();
    const sandbox = await this.#sandbox;
    const port = await borrowPort(place.id, request.launch.endpoint);
    if (!port.ok) return port;
    const staged = await stage({
      request:
        sandbox === null
          ? request
          : { ...request, state: { ...request.state, root: realpathSync(request.state.root) } },
      place,
      port: port.value,
      sandbox,
      rehearser: this.#rehearsal.rehearser,
      prlimit: machine.prlimit,
      artifactFile: (artifact, path) => options.artifactFile(request.release, artifact, path),
    });
    if (!staged.ok) return staged;
    const { launch, dress } = staged.value;
    const over = Promise.withResolvers<void>();
    const finish = (): void => over.resolve();
    const withdraw = options.timers.after(request.rehearsal.timeoutMs + REHEARSER_MS, finish);
    signal.addEventListener('abort', finish, { once: true });
    try {
      const started = await startProgram(launch, {
        options,
        machine,
        files: place.files,
        log: place.log,
        dress,
        onExit: finish,
      });
      if (!started.ok) return started;
      logs.keep(place.log, { bytes: launch.launch.limits.logBytes, files: launch.launch.limits.logFiles });
      if (!signal.aborted) await over.promise;
      return signal.aborted ? failed(request, WITHDRAWN) : await this.#verdict(request, place);
    } finally {
      withdraw();
      signal.removeEventListener('abort', finish);
      logs.drop(place.log);
    }
  }

  /** What the rehearser said, with what the program said last: secrets never among it (F5, F7, F30). */
  async #verdict(request: RehearsalRequest, place: Place): Promise<Outcome<'passed'>> {
    const result = await readResult(place.result);
    if (result?.passed === true) return ok('passed');
    const redactor = await redactorFor(place.files.keptSecrets);
    const lastLines = await tailOf(place.log, LAST_LINES, redactor);
    const clean = (text: string): string =>
      Buffer.from(redactor.redact(Buffer.from(text).toString('latin1')), 'latin1').toString('utf8');
    if (result === null) return failed(request, 'it ended without a verdict', { lastLines: [...lastLines] });
    const said = clean(result.said);
    const body = result.body === null ? null : clean(result.body);
    return failed(request, said, { probe: { said, status: result.status, body }, lastLines: [...lastLines] });
  }

  /** Ends every process that carries the place's id, then removes it. Answers why not, with the place left as it is. */
  async #end(place: Place): Promise<string | null> {
    const { options, machine, returnPort } = this.#site;
    const { from } = machine;
    const { killMs = KILL_MS, timers, fleet } = options;
    const { id, files } = place;
    const group = groupOf(machine, id);
    const unified = machine.room?.hierarchy ?? null;
    const found = await findProcess({ activation: id, files, from, unified, expectedGroup: group });
    if (found.kind === 'seen') {
      const handle = handleOf('rehearsal', id, found.value.identity, files);
      const site = { from, timers, unified, fifo: files.alive, singleProcess: false, killMs };
      const stopped = await stopTree(handle, 0, site);
      if (stopped.kind === 'unknown') return `rehearsal ${id} cannot be ended: ${stopped.because}`;
    }
    const { left } = await endAll(await carriersOf(id, from), { from, timers, killMs });
    if (left.length > 0) return `rehearsal ${id} cannot be ended: process ${left.map(({ pid }) => pid).join(', ')}`;
    clearGroups(id, machine, group, fleet);
    await removePlace(place);
    returnPort(id);
    return null;
  }
}

const WITHDRAWN = 'it was withdrawn';

const failed = (request: RehearsalRequest, because: string, detail?: Json): Outcome<never> =>
  refused(
    refusal(
      'rehearsal-failed',
      `The rehearsal of ${request.target} failed: ${because}.`,
      detail === undefined ? {} : { detail },
    ),
  );
