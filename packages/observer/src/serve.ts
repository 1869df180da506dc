import { join } from 'node:path';
import {
  type Clock,
  listenPrivately,
  type RecordStore,
  type SigningKey,
  type Timers,
  type VerificationKey,
} from '@idunn/kernel';
import { openBook } from './book/book.ts';
import { openTrails } from './edge/sqlite-trails.ts';
import type { Launch } from './launch/launch-document.ts';
import { daemonLinks } from './link/daemon-links.ts';
import { createObserver } from './observer.ts';
import { workloadConnections } from './presence/workload-connections.ts';
import { createVoice } from './voice/voice.ts';

/** What the holder of the store needs to be the observer. */
export interface ServePorts {
  readonly store: RecordStore;
  readonly launch: Launch;
  readonly authority: VerificationKey;
  readonly signerKey: SigningKey;
  readonly storeDirectory: string;
  readonly socketDirectory: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly yieldTo: (turn: () => void) => void;
  readonly log: (text: string) => void;
  readonly fail: (cause: unknown) => void;
}

/** Serves workloads and daemon over the store that it alone holds, until `close`, which lets the store go last. */
export async function serve(ports: ServePorts): Promise<{ close(): Promise<void> }> {
  const { store, launch, authority, clock, timers, log, fail } = ports;
  const { audience } = launch.header;
  const book = await openBook(store, audience);
  const trails = openTrails(ports.storeDirectory, clock.bootId);
  const voice = createVoice({
    key: ports.signerKey,
    audience,
    era: book.era,
    self: { incarnation: launch.incarnation, activation: launch.activation },
  });
  const links = daemonLinks({ voice, authority, audience, timers, log });
  const tell = (...lines: readonly string[]): void => links.tell(...lines);
  const observer = createObserver({ clock, timers, audience, book, trails, voice, tell, log, fail });
  const workloads = workloadConnections({ observer, clock, yieldTo: ports.yieldTo, log });
  links.serve(observer, () => book.requestSequence);
  const servers = [
    await listenPrivately(
      join(ports.socketDirectory, 'presence.sock'),
      timers,
      (socket) => workloads.accept(socket),
      // Beside root, workloads may be other users; their words are signed.
      process.geteuid?.() === 0 ? 'everybody' : 'this-user',
    ),
    await listenPrivately(join(ports.socketDirectory, 'link.sock'), timers, (socket) => links.accept(socket)),
  ];
  return {
    async close() {
      const closed = servers.map((server) => server.close());
      workloads.close();
      links.close();
      await Promise.all(closed);
      observer.stop();
      trails.close();
      await store.close();
    },
  };
}
