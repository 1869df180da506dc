import type { Socket } from 'node:net';
import { type Header, openEnvelope, type Timers, type VerificationKey } from '@idunn/kernel';
import { HEARTBEAT_MS, helloSchema, LINK_SCHEMAS, lineReader, signedRequestSchema } from '@idunn/readiness';
import { MAX_LINK_BACKLOG_BYTES, MAX_LINKS } from '../limits.ts';
import type { Observer } from '../observer.ts';
import type { SignedLine, Voice } from '../voice/voice.ts';

interface Link {
  readonly socket: Socket;
  /** True once the authority's hello was answered; only then are requests taken and news pushed. */
  welcomed: boolean;
}

export interface DaemonLinks {
  /** From here on connections are taken; `requestSequence` is the last that was taken. */
  serve(observer: Observer, requestSequence: () => number): void;
  accept(socket: Socket): void;
  tell(...lines: readonly SignedLine[]): void;
  close(): void;
}

/** The authority's side. Nothing is done on a word that the authority did not sign for this fleet and machine. */
export function daemonLinks(ports: {
  readonly voice: Voice;
  readonly authority: VerificationKey;
  readonly audience: Header['audience'];
  readonly timers: Timers;
  readonly log: (text: string) => void;
}): DaemonLinks {
  const { voice, authority, audience, timers, log } = ports;
  const links = new Set<Link>();
  let served: { observer: Observer; requestSequence: () => number } | null = null;
  let spoken = false;
  let cancelHeartbeat: (() => void) | null = null;

  const welcomed = (): Link[] => [...links].filter((link) => link.welcomed);

  /** A link that does not read is cut: it comes back and gets everything anew. */
  function write(link: Link, line: SignedLine): void {
    if (link.socket.destroyed) return;
    if (link.socket.writableLength + line.length > MAX_LINK_BACKLOG_BYTES) link.socket.destroy();
    else link.socket.write(line);
  }

  function tell(...lines: readonly SignedLine[]): void {
    spoken = true;
    for (const link of welcomed()) write(link, lines.join(''));
  }

  /** Silence is no news and no health: a daemon that hears nothing for long takes the link for down (I10). */
  function keepAlive(): void {
    cancelHeartbeat ??= timers.after(HEARTBEAT_MS, () => {
      cancelHeartbeat = null;
      if (links.size === 0) return;
      if (!spoken) tell(voice.batch('refresh', []));
      spoken = false;
      keepAlive();
    });
  }

  function take(link: Link, type: string, envelope: unknown): void {
    if (served === null) return;
    const from = { envelope, keys: [authority], audience };
    if (type === 'hello') {
      const opened = openEnvelope({ ...from, schema: LINK_SCHEMAS.hello, shape: helloSchema });
      if (!opened.ok) return log(`a hello was dropped: ${opened.refusal.reason}`);
      write(link, voice.welcome(opened.value.payload.challenge, served.requestSequence()));
      for (const line of served.observer.roster()) write(link, line);
      link.welcomed = true;
      return keepAlive();
    }
    if (type !== 'request' || !link.welcomed) return log(`a ${type.slice(0, 32)} was dropped: it was not its turn`);
    const opened = openEnvelope({ ...from, schema: LINK_SCHEMAS.request, shape: signedRequestSchema });
    if (!opened.ok) return log(`a request was dropped: ${opened.refusal.reason}`);
    const { header, request } = opened.value.payload;
    served.observer.instruct(request, header, (line) => write(link, line));
  }

  return {
    serve(observer, requestSequence) {
      served = { observer, requestSequence };
    },
    accept(socket) {
      if (links.size >= MAX_LINKS) {
        const [oldest] = links;
        oldest?.socket.destroy();
        if (oldest !== undefined) links.delete(oldest);
      }
      const link: Link = { socket, welcomed: false };
      links.add(link);
      const read = lineReader((type, envelope) => take(link, type, envelope));
      socket.on('data', (chunk: Buffer) => {
        if (!read(chunk)) socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => links.delete(link));
    },
    tell,
    close() {
      cancelHeartbeat?.();
      for (const { socket } of links) socket.destroy();
    },
  };
}
