import type { Socket } from 'node:net';
import { headerSchema, openEnvelope, type SigningKey, signEnvelope, type VerificationKey } from '@idunn/kernel';
import { lineReader } from '@idunn/readiness';
import { z } from 'zod';
import type { Launch } from '../launch/launch-document.ts';

const challenge = z.string().regex(/^[0-9a-f]{64}$/);
const helloSchema = z.strictObject({ header: headerSchema, challenge });
const welcomeSchema = z.strictObject({ header: headerSchema, counterChallenge: challenge });

/** The channel of docs/workload-protocol.md for a program without state: the proof of both keys, then presences. */
export interface Channel {
  accept(socket: Socket): void;
  /** Sends a presence on the channel, while one is open. */
  send(presence: () => unknown): void;
  close(): void;
}

export function channel(own: {
  readonly launch: Launch;
  readonly authority: VerificationKey;
  readonly activationKey: SigningKey;
  readonly pid: number;
  /** 64 hexadecimal digits that nobody can guess. */
  readonly challenge: () => string;
  /** A connection completed the proof: the newest presence is due on it. */
  readonly opened: () => void;
  readonly log: (text: string) => void;
}): Channel {
  const { launch, authority, log } = own;
  const { audience } = launch.header;
  const sockets = new Set<Socket>();
  /** The connection whose authority proved itself last. */
  let open: Socket | null = null;

  function converse(socket: Socket): (type: string, envelope: unknown) => void {
    let sequence = 0;
    let counterChallenge: string | null = null;
    const from = { keys: [authority], audience, subject: launch.activation };

    const prove = (asked: string, requestId: string): void => {
      counterChallenge = own.challenge();
      sequence += 1;
      const header = {
        schema: 'idunn.channel-proof/v1',
        issuer: own.activationKey.keyId,
        audience,
        subject: launch.activation,
        requestId,
        sequence,
      };
      const proof = { header, challenge: asked, counterChallenge, pid: own.pid };
      write(socket, 'proof', signEnvelope(proof, [own.activationKey]));
    };

    return (type, envelope) => {
      switch (type) {
        case 'hello': {
          const hello = openEnvelope({ ...from, envelope, schema: 'idunn.channel-hello/v1', shape: helloSchema });
          if (hello.ok) prove(hello.value.payload.challenge, hello.value.payload.header.requestId);
          else log(`a channel hello was dropped: ${hello.refusal.reason}`);
          return;
        }
        case 'welcome': {
          const welcome = openEnvelope({ ...from, envelope, schema: 'idunn.channel-welcome/v1', shape: welcomeSchema });
          if (!welcome.ok) return log(`a channel welcome was dropped: ${welcome.refusal.reason}`);
          if (welcome.value.payload.counterChallenge !== counterChallenge) return log('a channel welcome was replayed');
          if (open !== socket) open?.destroy();
          open = socket;
          return own.opened();
        }
        default: // The observer has no state: there is nothing to grant, echo or relinquish.
          return log(`a channel message ${type.slice(0, 32)} was dropped`);
      }
    };
  }

  return {
    accept(socket) {
      sockets.add(socket);
      const read = lineReader(converse(socket));
      socket.on('data', (chunk: Buffer) => {
        if (!read(chunk)) socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        if (open === socket) open = null;
      });
    },
    send(presence) {
      if (open !== null) write(open, 'presence', presence());
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function write(socket: Socket, type: string, envelope: unknown): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify({ type, envelope })}\n`);
}
