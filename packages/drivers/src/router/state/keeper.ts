import { ftruncateSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type Outcome, ok, readPlainFile, refusal, refused, replaceFile, type Written } from '@idunn/kernel';
import { type RouterState, STATE_SCHEMA } from '../model/schema.ts';
import { type Replayed, replay } from './replay.ts';

/** Largest state, or journal of it, that is read. */
const STATE_LIMIT_BYTES = 67_108_864;

export const journalPath = (stateFile: string): string => `${stateFile}.journal`;

/** The state at hand, without what the keeper adds itself. */
type Render = () => Omit<RouterState, 'schema' | 'sequence'>;

/**
 * Keeps the router's state on disk. Snapshots are made durable whole while they are staged; a publication appends one
 * line to a journal, so that nothing waits for a sync between the switch and its acknowledgement.
 */
export class StateKeeper {
  readonly #path: string;
  readonly #journal: FileHandle;
  readonly #render: Render;
  #sequence: number;
  #journalBroken = false;
  #last: Promise<Written> = Promise.resolve({ kind: 'durable' });
  #next: Promise<Written> | null = null;
  #syncing: Promise<void> | null = null;

  /** Use `openState`. */
  constructor(path: string, journal: FileHandle, sequence: number, render: Render) {
    this.#path = path;
    this.#journal = journal;
    this.#sequence = sequence;
    this.#render = render;
  }

  /** False while a publication is in memory only. */
  get intact(): boolean {
    return !this.#journalBroken;
  }

  /** Writes the whole state. Calls that arrive while a write is under way share the next one. */
  persist(): Promise<Written> {
    if (this.#next === null) {
      this.#next = this.#last.then(() => {
        this.#next = null;
        return this.#write();
      });
      this.#last = this.#next;
    }
    return this.#next;
  }

  async #write(): Promise<Written> {
    const sequence = this.#sequence;
    const state: RouterState = { schema: STATE_SCHEMA, sequence, ...this.#render() };
    const written = await replaceFile(this.#path, `${JSON.stringify(state)}\n`);
    if (written.kind === 'durable' && sequence === this.#sequence) {
      // Every marker is in the durable state file, and none can be under way: the count did not move.
      ftruncateSync(this.#journal.fd, 0);
      this.#journalBroken = false;
    }
    return written;
  }

  /**
   * Notes a publication that was made in memory just now. Once it answers `written` the publication survives the
   * router's death; `durable` is called when it survives a loss of power too. After `lost`, a write of the whole state
   * is under way.
   */
  async mark(route: string, stage: string, durable: () => void): Promise<'written' | 'lost'> {
    this.#sequence++;
    const line = `${JSON.stringify({ sequence: this.#sequence, route, stage })}\n`;
    try {
      if (this.#journalBroken) throw new Error('the journal ends in a torn line');
      await this.#journal.write(line);
    } catch {
      // Nothing may follow a torn line; a whole write of the state empties the journal.
      this.#journalBroken = true;
      void this.persist().then((written) => written.kind === 'durable' && durable());
      return 'lost';
    }
    void this.#sync().then(durable, () => undefined);
    return 'written';
  }

  /** One sync at a time; whoever comes while one is under way shares the one after it. */
  async #sync(): Promise<void> {
    await this.#syncing?.catch(() => undefined);
    this.#syncing ??= this.#journal.datasync().finally(() => {
      this.#syncing = null;
    });
    await this.#syncing;
  }

  async close(): Promise<void> {
    await this.persist();
    await this.#syncing?.catch(() => undefined);
    await this.#journal.close();
  }
}

/**
 * Reads what was served last and opens the keeper. `render` gives the state at hand when it is to be written; it is
 * first called after this function resolved. Refuses an unreadable state (F9) and, at a first start, a disk that cannot
 * be written.
 */
export async function openState(
  path: string,
  fleet: string,
  render: Render,
): Promise<Outcome<{ readonly keeper: StateKeeper; readonly state: RouterState }>> {
  const replayed = await load(path, fleet);
  if (!replayed.ok) return replayed;
  const { state, journalBytes } = replayed.value;
  try {
    if (state.sequence === 0 && state.routes.length === 0) {
      const written = await replaceFile(path, `${JSON.stringify(state)}\n`);
      if (written.kind !== 'durable') return notWritten(written.because);
    }
    const journal = await open(journalPath(path), 'a', 0o600);
    await journal.truncate(journalBytes);
    return ok({ keeper: new StateKeeper(path, journal, state.sequence, render), state });
  } catch (error) {
    return notWritten(String(error));
  }
}

const notWritten = (because: string): Outcome<never> =>
  refused(refusal('router-state-not-written', `The router does not start: ${because}.`));

async function load(path: string, fleet: string): Promise<Outcome<Replayed>> {
  try {
    return replay(fleet, await textOf(path), await textOf(journalPath(path)));
  } catch (error) {
    return refused(refusal('router-state-unreadable', `The router does not start: ${String(error)}.`));
  }
}

/** `null` only when there is no such file; every other fault is thrown (I10). */
const textOf = async (path: string): Promise<string | null> =>
  (await readPlainFile(path, { limitBytes: STATE_LIMIT_BYTES }))?.toString('utf8') ?? null;
