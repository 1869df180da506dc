import { writeFileSync } from 'node:fs';
import { ChannelSession, type Commands } from '../channel/session.ts';
import { readLaunchDocument } from '../launch/document.ts';
import { signPresence, type Word } from '../presence/presence.ts';
import { type Envelope, signEnvelope } from '../words/envelope.ts';
import {
  ACTIVATION_KEY,
  AUTHORITY_KEY,
  command,
  launchPayload,
  publicBase64,
  SIGNER_KEY,
  STATE_ID,
  seedBase64,
} from './authority.ts';

export const VECTORS = new URL('../../vectors/protocol.json', import.meta.url);
export const PID = 4242;
export const CHALLENGE = '11'.repeat(32);
export const COUNTER_CHALLENGE = '22'.repeat(32);

/** Every answer of the program in the vectors comes from these fixed facts. */
export const FIXED: Commands = {
  echo: () => ({ journal: 'nonce-1', ledger: null }),
  relinquish: (_request, done) => done(1_234.5),
  withdraw: () => true,
  grant: () => {},
  welcomed: () => {},
};

export const WORDS: readonly Word[] = [
  {
    state: 'warming',
    epoch: null,
    endpoint: { host: '127.0.0.1', port: 4000 },
    stateSchema: 'world/1',
    capabilities: [{ name: 'events', schema: 'v1' }],
    detail: '',
  },
  {
    state: 'active',
    epoch: 7,
    endpoint: { host: '127.0.0.1', port: 4000 },
    stateSchema: 'world/1',
    capabilities: [{ name: 'events', schema: 'v1' }],
    detail: 'für Menschen',
  },
];

export interface Turn {
  readonly from: 'authority' | 'program';
  readonly message: { readonly type: string; readonly envelope: Envelope };
}

export interface Vectors {
  readonly schema: 'idunn.workload-vectors/v1';
  readonly note: string;
  readonly keys: Readonly<Record<string, { seed: string; publicKey: string; keyId: string }>>;
  readonly launch: Envelope;
  readonly presences: readonly { readonly word: Word; readonly sequence: number; readonly envelope: Envelope }[];
  readonly channel: { readonly pid: number; readonly counterChallenge: string; readonly turns: readonly Turn[] };
}

const LAUNCH = {
  stores: [
    { id: 'journal', kind: 'sqlite', path: '/srv/world/journal.db' },
    { id: 'ledger', kind: 'sqlite', path: '/srv/world/ledger.db' },
  ],
  observerSocket: '/run/idunn/observer.sock',
  port: 4000,
  secrets: { 'api-token': '' },
} as const;

/** What the SDK says when the authority says `turns`, in order of the wire. */
export function converse(launch: Envelope, authority: readonly Turn['message'][]): readonly Turn[] {
  const turns: Turn[] = [];
  const identity = {
    launch: readLaunchDocument(launch),
    key: ACTIVATION_KEY,
    pid: PID,
    counterChallenge: COUNTER_CHALLENGE,
  };
  const session = new ChannelSession(
    identity,
    FIXED,
    (message) => turns.push({ from: 'program', message: message as Turn['message'] }),
    (line) => {
      throw new Error(line);
    },
  );
  for (const message of authority) {
    turns.push({ from: 'authority', message });
    session.receive(message);
  }
  session.send('first-write', { epoch: 8, atMs: 2_345.678 }, 'first-write-1');
  return turns;
}

const key = (byte: number, pair: typeof AUTHORITY_KEY) => ({
  seed: seedBase64(byte),
  publicKey: publicBase64(pair),
  keyId: pair.keyId,
});

/**
 * Writes the golden file anew. Run by hand, and only when version 1 of the protocol has a case that is missing here.
 */
export function makeVectors(): Vectors {
  const launch = signEnvelope(launchPayload(LAUNCH), [AUTHORITY_KEY]);
  const speaker = { ...readLaunchDocument(launch), pid: PID, keys: [ACTIVATION_KEY, SIGNER_KEY] as const };
  const authority = [
    command('hello', { challenge: CHALLENGE }, 1),
    command('welcome', { counterChallenge: COUNTER_CHALLENGE }, 2),
    command('grant', { stateId: STATE_ID, epoch: 7 }, 3),
    command('echo', { nonce: 'nonce-1' }, 4),
    command('relinquish', { epoch: 7, termMs: 2_000 }, 5),
    command('withdraw', { relinquishId: 'req-5' }, 6),
    command('relinquish', { epoch: 7, termMs: null }, 7),
    command('grant', { stateId: STATE_ID, epoch: 8 }, 8),
  ];
  return {
    schema: 'idunn.workload-vectors/v1',
    note: 'Fixed seeds and the exact messages of protocol version 1. Never edited; a new case is added at the end.',
    keys: { authority: key(1, AUTHORITY_KEY), activation: key(2, ACTIVATION_KEY), signer: key(3, SIGNER_KEY) },
    launch,
    presences: WORDS.map((word, index) => ({
      word,
      sequence: index + 1,
      envelope: signPresence(speaker, word, index + 1),
    })),
    channel: { pid: PID, counterChallenge: COUNTER_CHALLENGE, turns: converse(launch, authority) },
  };
}

if (import.meta.main) writeFileSync(VECTORS, `${JSON.stringify(makeVectors(), null, 2)}\n`);
