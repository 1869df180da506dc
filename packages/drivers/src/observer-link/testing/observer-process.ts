import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ObserverEvent } from '@idunn/authority';
import { type Evidence, randomIds, systemClock, systemTimers } from '@idunn/kernel';
import type { IncarnationKey } from '@idunn/readiness';
import { audience, authorityKey, type SampleWorkload, sampleLaunch, sampleWorkload } from '@idunn/readiness/testing';
import { createObserverLink, type ObserverLink, type ObserverLinkOptions } from '../observer-link.ts';

/** The observer is another program: it is started from the repository as the daemon would start it, never imported. */
const MAIN = join(import.meta.dirname, '../../../../observer/src/main.ts');

export const { bootId } = systemClock();
export const odin = sampleWorkload({ target: 'observer', stateful: false, bootId });

/** One fleet's observer process, its directories, and links to it. */
export class Fleet {
  readonly root = mkdtempSync(join(tmpdir(), 'idunn-link-'));
  readonly sockets = join(this.root, 'run');
  readonly #anchors = new Map<string, SampleWorkload['anchor']>();
  readonly #links: ObserverLink[] = [];
  readonly #observers: ChildProcess[] = [];
  #launches = 0;

  enrol(...workloads: readonly SampleWorkload[]): void {
    for (const { target, anchor } of workloads) this.#anchors.set(target, anchor);
  }

  /** Starts the observer and resolves when it serves. */
  async start(): Promise<void> {
    const directory = join(this.root, `a${++this.#launches}`);
    mkdirSync(directory, { mode: 0o700 });
    const launched = sampleWorkload({ target: 'observer', stateful: false, bootId, launch: this.#launches });
    const put = (name: string, text: string) => writeFileSync(join(directory, name), text, { mode: 0o600 });
    put('launch.json', sampleLaunch(launched));
    put('activation.key', launched.seeds.activation);
    put('signer.key', launched.seeds.signer);
    const args = ['--conditions=source', MAIN, '--store', join(this.root, 'state'), '--sockets', this.sockets];
    const observer = spawn(process.execPath, args, {
      env: { IDUNN_ACTIVATION_DIRECTORY: directory },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#observers.push(observer);
    await new Promise<void>((resolve, reject) => {
      observer.stdout.on('data', (chunk: Buffer) => {
        if (chunk.includes('serving')) resolve();
      });
      observer.once('exit', () => reject(new Error('the observer ended')));
    });
  }

  async kill(): Promise<void> {
    for (const observer of this.#observers.splice(0)) {
      const ended = once(observer, 'exit');
      observer.kill('SIGKILL');
      await ended;
    }
  }

  link(changes: Partial<ObserverLinkOptions> = {}): ObserverLink {
    const link = createObserverLink({
      socket: join(this.sockets, 'link.sock'),
      audience,
      authority: authorityKey,
      observerPublicKey: odin.anchor.publicKey,
      anchors: (target) => {
        const anchor = this.#anchors.get(target);
        return anchor === undefined ? [] : [anchor];
      },
      clock: systemClock(),
      timers: systemTimers,
      ids: randomIds,
      log: () => undefined,
      ...changes,
    });
    this.#links.push(link);
    return link;
  }

  /** A workload's connection. */
  async connect(): Promise<Socket> {
    const socket = connect(join(this.sockets, 'presence.sock'));
    socket.resume();
    await once(socket, 'connect');
    return socket;
  }

  async dispose(): Promise<void> {
    for (const link of this.#links) link.close();
    await this.kill();
    rmSync(this.root, { recursive: true });
  }
}

/** Waits until the events make `holds` true. */
export async function until(link: Pick<ObserverLink, 'subscribe'>, holds: () => boolean): Promise<void> {
  let wake: (event: ObserverEvent) => void = () => undefined;
  link.subscribe((event) => wake(event));
  while (!holds()) {
    await new Promise<ObserverEvent>((resolve) => {
      wake = resolve;
    });
  }
}

export const linked = (link: ObserverLink): Promise<void> => until(link, () => link.peer() !== null);

/** The receipt that the link holds for an incarnation. */
export function receiptOf(link: Pick<ObserverLink, 'read'>, key: IncarnationKey): string | null {
  const word: Evidence<{ readonly ready: { readonly receipt: string } | null }> = link.read(key);
  return word.kind === 'seen' ? (word.value.ready?.receipt ?? null) : null;
}
