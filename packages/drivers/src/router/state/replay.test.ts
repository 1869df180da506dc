import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { value } from '../testing/rig.ts';
import { replay } from './replay.ts';

const golden = (name: string): string => readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8');
const state = golden('router-state-v1.json');
const journal = golden('router-journal-v1.jsonl');

test('the state and journal of version 1 are read as they always were', () => {
  const { state: replayed, journalBytes } = value(replay('golden', state, journal));
  const [route] = replayed.routes;
  assert.deepEqual([replayed.sequence, replayed.generationFloor, replayed.routes.length], [8, 3, 1]);
  assert.deepEqual([route?.served?.generation, route?.staged], [5, null]);
  assert.equal(route?.served?.members[0]?.activation, 'activation-2');
  assert.equal(journalBytes, Buffer.byteLength(journal));
});

test('the state of version 2, with everything that a contract can say', () => {
  const text = golden('router-state-v2.json');
  const { state: replayed } = value(replay('golden', text, null));
  assert.deepEqual(replayed, JSON.parse(text));
  assert.deepEqual(replayed.routes[0]?.served?.contract.tls?.certificates.length, 2);
});

test('a contract of version 1 has no names, TLS or streams, and is written as one of version 2', () => {
  const { schema, routes } = value(replay('golden', state, null)).state;
  const { names, tls, redirect, proxyProtocol, protocol } = routes[0]?.served?.contract ?? {};
  assert.equal(schema, 'idunn.router-state/v2');
  assert.deepEqual(
    { names, tls, redirect, proxyProtocol, protocol },
    { names: [], tls: null, redirect: null, proxyProtocol: false, protocol: 'http' },
  );
});

test('without a journal the state file says it all', () => {
  const [route] = value(replay('golden', state, null)).state.routes;
  assert.deepEqual([route?.served?.generation, route?.staged?.generation], [4, 5]);
});

test('a publication that is replayed twice is one', () => {
  const again = journal + journal.split('\n')[1]?.replace('"sequence":8', '"sequence":9');
  assert.equal(value(replay('golden', state, `${again}\n`)).state.routes[0]?.served?.generation, 5);
});

test('F9: only two absent files are a first start', () => {
  assert.deepEqual(value(replay('golden', null, null)).state.routes, []);
  const refusals: readonly (readonly [string, string | null, string | null])[] = [
    ['golden', null, ''],
    ['golden', '', null],
    ['golden', state.slice(0, -10), null],
    ['golden', state.replace('/v1', '/v2'), null],
    ['golden', state.replace('"fleet"', '"extra":1,"fleet"'), null],
    ['another', state, null],
    ['golden', state, `garbage\n${journal}`],
    ['golden', state, journal.replace(/0002"\}/, '0003"}')],
    ['golden', state, journal.replace('"web"', '"gone"')],
  ];
  for (const [fleet, stateText, journalText] of refusals) {
    const outcome = replay(fleet, stateText, journalText);
    assert.equal(!outcome.ok && outcome.refusal.code, 'router-state-unreadable', `${stateText} ${journalText}`);
  }
});

test('a torn last line is cut off, wherever it was torn', () => {
  const [, last = ''] = journal.split('\n');
  for (let length = 1; length < last.length; length++) {
    const torn = journal.slice(0, journal.indexOf('\n') + 1) + last.slice(0, length);
    const { state: replayed, journalBytes } = value(replay('golden', state, torn));
    assert.deepEqual([replayed.routes[0]?.served?.generation, journalBytes], [4, journal.indexOf('\n') + 1]);
  }
});
