import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type Envelope, type Json, type SigningKey, signEnvelope } from '@idunn/kernel';
import { LINK_SCHEMAS, type LinkLineType } from '@idunn/readiness';
import { audience, authorityKey, foreignKey, observerKey, sampleWorkload, verifierOf } from '@idunn/readiness/testing';
import { type ObserverWord, Session } from './session.ts';

const ghost = sampleWorkload({ target: 'ghostlight' });
const odin = sampleWorkload({ target: 'observer', stateful: false });

/** A session whose other end is the test. */
function open(name = 'session') {
  const words: ObserverWord[] = [];
  const dropped: string[] = [];
  const sent: { type: string; payload: Record<string, unknown> }[] = [];
  const socket = new PassThrough();
  socket.write = (text: unknown) => {
    const { type, envelope } = JSON.parse(String(text)) as { type: string; envelope: Envelope };
    sent.push({ type, payload: JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as never });
    return true;
  };
  let fresh = 0;
  const ids = { fresh: (prefix: string) => `${prefix}-${name}-${++fresh}` };
  const options = {
    audience,
    authority: authorityKey,
    observer: verifierOf(observerKey),
    ids,
    log: (text: string) => dropped.push(text),
  };
  const session = new Session(socket, options, (word) => words.push(word));
  const receive = (line: string) => void socket.emit('data', Buffer.from(line));
  const challenge = () => sent[0]?.payload['challenge'] as string;
  return { session, words, dropped, sent, receive, challenge };
}

function said(
  type: LinkLineType,
  sequence: number,
  body: Record<string, Json>,
  more: { subject?: string; key?: SigningKey } = {},
) {
  const { subject = audience.fleet, key = observerKey } = more;
  const header = { schema: LINK_SCHEMAS[type], issuer: key.keyId, audience, subject, requestId: 'x', sequence };
  return `${JSON.stringify({ type, envelope: signEnvelope({ header, ...body }, [key]) })}\n`;
}

const welcome = (challenge: string, sequence = 10, key = observerKey) => {
  const self = { incarnation: odin.key, activation: odin.activation.activation };
  return said('welcome', sequence, { challenge, requestSequence: 41, ...self }, { key });
};

const statement = (sequence: number, subject: string = ghost.key, key = observerKey) =>
  said(
    'statement',
    sequence,
    {
      incarnation: ghost.key,
      activation: ghost.activation.activation,
      state: 'active',
      epoch: 1,
      presenceSequence: sequence,
      presence: `sha256:${'a'.repeat(64)}`,
      fresh: true,
      disagreements: [],
    },
    { subject, key },
  );

test('a session greets with a challenge, and its requests go on from the observer’s last', () => {
  const { session, words, sent, receive, challenge } = open();
  assert.match(challenge(), /^[0-9a-f]{64}$/);
  receive(welcome(challenge()));
  assert.deepEqual(words, [
    { kind: 'welcome', self: { incarnation: odin.key, activation: odin.activation.activation } },
  ]);
  session.request('r1', { kind: 'withdraw', incarnation: ghost.key });
  const { header } = sent[1]?.payload ?? {};
  assert.equal((header as { sequence: number }).sequence, 42);
});

test('I5: a welcome of an earlier connection opens nothing, and nothing counts before the welcome', () => {
  const earlier = open('earlier');
  const captured = welcome(earlier.challenge());
  const { words, receive, challenge } = open('later');
  receive(statement(11));
  receive(captured);
  receive(statement(12));
  assert.deepEqual(words, []);
  receive(welcome(challenge()));
  assert.equal(words.length, 1);
});

test('I5: statements of an earlier connection, or said twice, are dropped', () => {
  const { words, dropped, receive, challenge } = open();
  receive(welcome(challenge(), 10));
  receive(statement(9));
  receive(statement(10));
  assert.equal(words.length, 1);
  receive(statement(12));
  receive(statement(12));
  receive(statement(11));
  receive(welcome(challenge(), 13));
  assert.equal(words.length, 2);
  assert.equal(dropped.length, 5);
});

test('I4: what another key signed, or what is about something else than it says, is dropped', () => {
  const { words, receive, challenge } = open();
  receive(welcome(challenge(), 10, foreignKey));
  assert.deepEqual(words, []);
  receive(welcome(challenge()));
  receive(statement(11, ghost.key, foreignKey));
  receive(statement(12, odin.key));
  receive(statement(13).replace('"type":"statement"', '"type":"receipt"'));
  receive(statement(14).replace('"type":"statement"', '"type":"gossip"'));
  assert.equal(words.length, 1);
});
