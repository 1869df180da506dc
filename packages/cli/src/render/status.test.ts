import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Status, TargetHealth, TargetStatus } from '@idunn/client';
import { renderStatus, renderTarget } from './status.ts';
import { healthMark, styleOf } from './style.ts';

const AT = '2026-11-30T00:00:00.000Z';
const NOW = Date.parse('2026-11-30T00:00:05.000Z');
const plainSink = { write: () => undefined, terminal: false, columns: 200 };
const style = styleOf({ variable: () => undefined }, plainSink);
const key = (digit: string): string => `ghostlight@sha256:${digit.repeat(64)}`;
const expected = { release: 'r', build: 'b', revision: 'd'.repeat(40) };

const ghostlight: TargetStatus = {
  target: 'ghostlight',
  health: 'waiting',
  desired: 'up',
  admitted: {
    incarnation: key('a'),
    release: 'r',
    build: 'b',
    revision: 'd'.repeat(40),
    activation: `act-${'1'.repeat(32)}`,
    processes: [{ pid: 4242 }],
    admittedAt: AT,
  },
  incarnations: [
    {
      incarnation: key('a'),
      role: 'admitted',
      expected,
      activation: 'act-1',
      present: { state: 'active', sequence: 7, observedAt: AT, fresh: true },
      ready: { receipt: `sha256:${'e'.repeat(64)}`, observedAt: AT },
      disagreements: [],
    },
    {
      incarnation: key('c'),
      role: 'candidate',
      expected,
      activation: 'act-2',
      present: { state: 'warming', sequence: 1, observedAt: AT, fresh: false },
      ready: null,
      disagreements: [{ code: 'endpoint-mismatch', detail: 'it listens on 9001' }],
    },
  ],
  lease: { epoch: 3, activation: `act-${'1'.repeat(32)}`, state: 'held' },
  route: {
    endpoint: 'http://127.0.0.1:8080',
    members: [{ incarnation: key('a'), backend: '127.0.0.1:9000' }],
    certificates: [
      {
        file: '/etc/tls/a.pem',
        names: ['a.example.org', 'www.a.example.org'],
        expiresAt: '2027-01-31T00:00:00.000Z',
      },
    ],
  },
  attended: [],
  static: null,
  rollout: null,
  transaction: {
    id: 'tx-1',
    kind: 'deploy',
    phase: 'warming',
    since: AT,
    waitingOn: { what: 'a disagreement', since: AT, until: AT, remedy: 'correct the candidate' },
  },
  queued: [],
  continuity: { streak: 0, nextAttemptAt: null },
  freezes: [],
  hold: null,
  incidents: [],
};

const fleet: Status = {
  schema: 'idunn.status/v1',
  fleet: 'home',
  machine: 'local',
  directory: '/fleet',
  daemon: { version: '0.1.0', pid: 7, startedAt: AT },
  separation: 'same-user',
  faults: [],
  incidents: [],
  targets: [ghostlight],
};

test('the three truths of each incarnation stand side by side, disagreements below them', () => {
  assert.deepEqual(renderStatus(fleet, 'found by --fleet', NOW, style), [
    'home on local  /fleet (found by --fleet)',
    'daemon 0.1.0, pid 7, since 5 s ago; I1 and I2 hold against crashes and bugs only: not everything has a user of its own',
    '',
    'ghostlight  ◔ waiting  revision dddddddddddd  admitted 5 s ago  pid 4242',
    '  ├─ deploy  warming since 00:00:00 UTC  tx-1',
    '  ├─ waiting on a disagreement, since 00:00:00 UTC, until 00:00:00 UTC at most; what to do: correct the candidate',
    '  ├─ lease   epoch 3, held by 111111111111',
    '  ├─ route   http://127.0.0.1:8080 → 127.0.0.1:9000 (aaaaaaaaaaaa)',
    '  ├─ tls     a.example.org, www.a.example.org until 2027-01-31',
    '  └─ incarnation   role       Expected        Present                       Ready',
    '     aaaaaaaaaaaa  admitted   ✔ dddddddddddd  ✔ active #7, 5 s ago          ✔ eeeeeeeeeeee, 5 s ago',
    '     cccccccccccc  candidate  ✔ dddddddddddd  ? stale: warming #1, 5 s ago  ? not seen',
    '       ✖ endpoint-mismatch: it listens on 9001',
  ]);
});

test('what is amiss with the whole fleet stands above its targets', () => {
  const lost = {
    code: 'observer-unreachable',
    subject: '_fleet',
    since: AT,
    detail: 'connect\nECONNREFUSED',
    remedy: 'Run idunn status to see the observer.',
  };
  assert.deepEqual(renderStatus({ ...fleet, incidents: [lost] }, 'found by --fleet', NOW, style).slice(2, 5), [
    '',
    '✖ observer-unreachable  connect·ECONNREFUSED (5 s ago); what to do: Run idunn status to see the observer.',
    '',
  ]);
});

test('what stops a target stands with the command that ends it', () => {
  const stop = (kind: string) => ({
    by: 'ada',
    reason: 'a\nlook',
    since: AT,
    clearedBy: `idunn ${kind} clear ghostlight`,
  });
  const target = { ...ghostlight, freezes: [stop('freeze')], hold: stop('hold') };
  const lines = renderTarget(target, NOW, style);
  assert.deepEqual(
    lines.filter((line) => line.includes('to clear it')),
    [
      '  ├─ frozen  by ada, 5 s ago: a·look; to clear it: idunn freeze clear ghostlight',
      '  ├─ held    by ada, 5 s ago: a·look; to clear it: idunn hold clear ghostlight',
    ],
  );
});

test('each state of health has a sign and a word of its own, in plain ASCII too', () => {
  const all: TargetHealth[] = [
    'never-run',
    'down',
    'deploying',
    'waiting',
    'healthy',
    'degraded',
    'unhealthy',
    'unknown',
  ];
  const ascii = styleOf({ variable: () => 'C' }, { ...plainSink, terminal: true });
  for (const each of [style, { ...ascii, ...style, unicode: false }]) {
    const marks = all.map((health) => healthMark(health, each));
    assert.equal(new Set(marks.map((mark) => mark.slice(0, 1))).size, all.length, marks.join());
    assert.equal(new Set(marks.map((mark) => mark.slice(2))).size, all.length, marks.join());
  }
});

test('NO_COLOR and dumb terminals get no colour; others do', () => {
  const terminal = { ...plainSink, terminal: true };
  const painted = (variables: Record<string, string>): boolean =>
    styleOf({ variable: (name) => variables[name] }, terminal)
      .good('x')
      .includes('\u001b');
  assert.equal(painted({}), true);
  assert.equal(painted({ NO_COLOR: '1' }), false);
  assert.equal(painted({ TERM: 'dumb' }), false);
});

test('I4: on a narrow terminal the three truths stand below each other, and none is cut off', () => {
  const narrow = styleOf(
    { variable: (name) => (name === 'LANG' ? 'C.UTF-8' : name === 'NO_COLOR' ? '1' : undefined) },
    {
      ...plainSink,
      terminal: true,
      columns: 60,
    },
  );
  const lines = renderStatus(fleet, 'found by --fleet', NOW, narrow);
  const at = lines.findIndex((line) => line.includes('aaaaaaaaaaaa  admitted'));
  assert.deepEqual(
    lines.slice(at, at + 4).map((line) => line.slice(5)),
    [
      'aaaaaaaaaaaa  admitted',
      '  Expected  ✔ dddddddddddd',
      '  Present   ✔ active #7, 5 s ago',
      '  Ready     ✔ eeeeeeeeeeee, 5 s ago',
    ],
  );
  assert.match(lines.join('\n'), /cccccccccccc  candidate[^]*Ready +\? not seen\n.*✖ endpoint-mismatch/);
});
