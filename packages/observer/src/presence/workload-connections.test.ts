import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { FakeTime } from '@idunn/kernel/testing';
import { sampleWorkload } from '@idunn/readiness/testing';
import { MAX_PRESENCE_CONNECTIONS } from '../limits.ts';
import type { Incoming, Observer } from '../observer.ts';
import { workloadConnections } from './workload-connections.ts';

const ghost = sampleWorkload({ target: 'ghostlight' });

/** Connections over a pretended observer that hears `current` activations only, and turns that the test takes. */
function world(current: Set<string> = new Set([ghost.activation.activation])) {
  const heard: number[] = [];
  const turns: (() => void)[] = [];
  let activated: (activation: string) => void = () => undefined;
  const observer: Observer = {
    hear(incoming: Incoming) {
      if (!current.has(incoming.claimed)) return 'unknown-activation';
      heard.push(incoming.sequence);
      incoming.answer(null);
      return 'heard';
    },
    instruct: () => undefined,
    roster: () => [],
    onActivated: (listener) => {
      activated = listener;
    },
    stop: () => undefined,
  };
  const connections = workloadConnections({
    observer,
    clock: new FakeTime().clock,
    yieldTo: (turn) => turns.push(turn),
    log: () => undefined,
  });
  /** A socket whose other end is in the test's hand: `emit('data')` is what it receives. */
  const open = (): Socket => {
    const socket = new PassThrough() as unknown as Socket;
    connections.accept(socket);
    return socket;
  };
  return {
    heard,
    connections,
    open,
    receive: (socket: Socket, text: string) => socket.emit('data', Buffer.from(text)),
    takeTurn: () => turns.shift()?.(),
    turns,
    activate: (activation: string) => {
      current.add(activation);
      activated(activation);
    },
  };
}

test('of a flood only the newest presence is looked at, once a turn', () => {
  const { heard, open, receive, takeTurn, turns } = world();
  const [flood, calm] = [open(), open()];
  for (let sequence = 1; sequence <= 1_000; sequence++) receive(flood, ghost.line(sequence));
  receive(calm, ghost.line(2_000));
  assert.equal(turns.length, 1);
  takeTurn();
  takeTurn();
  assert.deepEqual(heard, [1_000, 2_000]);
  assert.equal(turns.length, 0);
});

test('a presence of an activation that is not current is kept, the newest alone, and goes with its connection', () => {
  const { heard, open, receive, takeTurn, activate } = world(new Set());
  const [stays, leaves] = [open(), open()];
  for (const sequence of [1, 2, 3]) {
    receive(stays, ghost.line(sequence));
    takeTurn();
  }
  receive(leaves, ghost.line(4));
  takeTurn();
  leaves.emit('close');
  activate(ghost.activation.activation);
  assert.deepEqual(heard, [3]);
});

test('a connection too many makes the oldest go that never proved itself; proven ones stay', () => {
  const { heard, connections, open, receive, takeTurn } = world();
  const proven = open();
  receive(proven, ghost.line(1));
  takeTurn();
  assert.deepEqual(heard, [1]);
  const idle = open();
  for (let count = 2; count < MAX_PRESENCE_CONNECTIONS; count++) open();
  assert.equal(connections.count(), MAX_PRESENCE_CONNECTIONS);
  open();
  assert.equal(connections.count(), MAX_PRESENCE_CONNECTIONS);
  assert.ok(idle.destroyed);
  assert.ok(!proven.destroyed);
});
