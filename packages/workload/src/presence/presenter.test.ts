import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACTIVATION, ACTIVATION_KEY, AUDIENCE, SIGNER_KEY } from '../testing/authority.ts';
import { FakeMachine } from '../testing/machine.ts';
import type { Speaker, Word } from './presence.ts';
import { Presenter } from './presenter.ts';

const speaker: Speaker = {
  audience: AUDIENCE,
  target: 'game',
  incarnation: 'game@sha256:0',
  activation: ACTIVATION,
  pid: 1,
  keys: [ACTIVATION_KEY, SIGNER_KEY],
};
const word: Word = {
  state: 'active',
  epoch: null,
  endpoint: null,
  stateSchema: null,
  capabilities: [],
  detail: '',
};

test('a change is said at once, and repeated at the last moment of its period that all programs share', () => {
  const machine = new FakeMachine();
  const saidAtMs: number[] = [];
  const presenter = new Presenter(speaker, 120_000, machine);
  presenter.attach(() => saidAtMs.push(machine.now));
  machine.pass(1_234);
  presenter.say(word);
  machine.pass(130_000);
  presenter.say({ ...word, state: 'degraded' });
  machine.pass(250_000);
  assert.deepEqual(saidAtMs, [2_234, 120_000, 132_234, 250_000, 370_000]);
  presenter.stop();
});
