import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLaunchDocument } from '../launch/document.ts';
import {
  ACTIVATION_KEY,
  AUTHORITY_KEY,
  command,
  launchPayload,
  OTHER,
  STATE_ID,
  STRANGER_KEY,
} from '../testing/authority.ts';
import { CHALLENGE, COUNTER_CHALLENGE, FIXED } from '../testing/vectors.ts';
import { signEnvelope } from '../words/envelope.ts';
import { ChannelSession } from './session.ts';

function session() {
  const [sent, logged, grants]: [string[], string[], number[]] = [[], [], []];
  const launch = readLaunchDocument(signEnvelope(launchPayload({ stores: [] }), [AUTHORITY_KEY]));
  const made = new ChannelSession(
    { launch, key: ACTIVATION_KEY, pid: 1, counterChallenge: COUNTER_CHALLENGE },
    { ...FIXED, grant: ({ epoch }) => void grants.push(epoch) },
    (message) => sent.push((message as { type: string }).type),
    (line) => logged.push(line),
  );
  const prove = (): void => {
    made.receive(command('hello', { challenge: CHALLENGE }, 1));
    made.receive(command('welcome', { counterChallenge: COUNTER_CHALLENGE }, 2));
  };
  return { session: made, sent, logged, grants, prove };
}

const grant = (sequence: number, more: Parameters<typeof command>[4] = {}) =>
  command('grant', { stateId: STATE_ID, epoch: 1 }, sequence, `req-${sequence}`, more);

test('I5: a command counts only after both sides are proven', () => {
  const { session: channel, grants, logged, prove } = session();
  channel.receive(grant(1));
  assert.deepEqual([grants, logged.length], [[], 1]);
  prove();
  assert.equal(channel.proven, true);
  channel.receive(grant(3));
  assert.deepEqual(grants, [1]);
});

test('I5: the welcome must carry this connection’s counter-challenge: an older one proves nothing', () => {
  const { session: channel, logged } = session();
  channel.receive(command('hello', { challenge: CHALLENGE }, 1));
  channel.receive(command('welcome', { counterChallenge: '33'.repeat(32) }, 2));
  assert.equal(channel.proven, false);
  assert.match(logged[0] ?? '', /another counter-challenge/);
});

test('I5: a message that is replayed, foreign or forged is dropped, and the log says why', () => {
  const foreign: readonly [RegExp, ReturnType<typeof grant>][] = [
    [/heard before/, grant(2)],
    [/not signed by the authority/, grant(3, { key: STRANGER_KEY })],
    [/meant for another activation/, grant(3, { header: { subject: OTHER } })],
    [/meant for beta on local/, grant(3, { header: { audience: { fleet: 'beta', machine: 'local' } } })],
    [/meant for alpha on far/, grant(3, { header: { audience: { fleet: 'alpha', machine: 'far' } } })],
    [/another issuer/, grant(3, { header: { issuer: STRANGER_KEY.keyId } })],
    [/another schema/, grant(3, { header: { schema: 'idunn.channel-grant/v2' } })],
    [/another schema/, { ...grant(3), type: 'relinquish' }],
    [/unknown message/, command('shutdown', {}, 3)],
    [/at least 1/, command('grant', { stateId: STATE_ID, epoch: 0 }, 3)],
    [/out of turn/, command('hello', { challenge: CHALLENGE }, 3)],
  ];
  const { session: channel, grants, logged, prove } = session();
  prove();
  for (const [reason, message] of foreign) {
    channel.receive(message);
    assert.match(logged.at(-1) ?? '', reason);
  }
  for (const noMessage of [null, 7, [], {}, { type: 'grant' }, { type: 'grant', envelope: { payloadType: 'x' } }]) {
    channel.receive(noMessage);
  }
  assert.deepEqual(grants, []);
  channel.receive(grant(3));
  assert.deepEqual(grants, [1], 'the connection goes on');
});
