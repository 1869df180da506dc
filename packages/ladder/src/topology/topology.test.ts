import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Json } from '@idunn/kernel';
import { answerOf, SLOTS, slotOf, valueOf } from '../guard/testing/world.ts';
import * as ladder from '../index.ts';

const registry = valueOf(ladder.createRegistry(SLOTS, { customer: 'Example Orchards' }));
const seen = new Map<string, ladder.Observation>([
  ['dev', ladder.observation.green({ observedAtMs: 5, revision: 'sha256:1' })],
  ['qa', ladder.observation.failed('rollout-timed-out', { detail: '1 of 3 ready' })],
]);

test('each rung says how it stands, and what nobody observed never ran', () => {
  const { nodes, edges } = ladder.topology(registry, seen);
  assert.deepEqual(
    nodes.map(({ name, rank, guarded, observation }) => [name, rank, guarded, observation.state]),
    [
      ['dev', 0, false, 'green'],
      ['qa', 1, false, 'failed'],
      ['production', 2, true, 'never-run'],
    ],
  );
  assert.deepEqual(edges, [
    { from: 'dev', to: 'qa' },
    { from: 'qa', to: 'production' },
  ]);
});

test('I10: everything that is not green asks for attention, and has a code', () => {
  const shown = ladder.topology(registry, new Map([...seen, ['production', ladder.observation.unknown('no-access')]]));
  const attention = ladder.notGreen(shown).map(({ observation: one }) => ('code' in one ? one.code : null));
  assert.deepEqual(attention, ['rollout-timed-out', 'no-access']);
  assert.equal(ladder.notGreen(ladder.topology(registry, new Map())).length, 3);
});

test('an observation that is forged, or of no slot, is told and never taken for health', () => {
  const forged = { state: 'failed', code: '', observedAtMs: null, revision: null, detail: '' } as const;
  const shown = ladder.topology(
    registry,
    new Map([
      ['dev', forged],
      ['moon', ladder.observation.green()],
    ]),
  );
  assert.deepEqual(shown.nodes[0]?.observation, ladder.observation.unknown('observation-malformed'));
  assert.deepEqual(shown.notes, [
    'There is an observation of moon, which is no slot.',
    'The observation of dev has not the form of one.',
  ]);
});

test('an attempt to lower the guard reaches the viewer', () => {
  const config = valueOf(ladder.createRegistry([slotOf('dev')])).ladder;
  const merged = valueOf(ladder.loadOver(registry, config, 'report-and-keep-guarded'));
  assert.deepEqual(ladder.topology(merged, seen).notes.slice(0, 1), [
    'The configuration tried to lower the guard: production is left out.',
  ]);
});

test('JSON there and back is the same topology', () => {
  const shown = ladder.topology(registry, seen);
  assert.deepEqual(valueOf(ladder.parseTopology(JSON.parse(JSON.stringify(shown)) as Json)), shown);
});

test('what is no topology, or contradicts itself, is refused', () => {
  const shown = JSON.parse(JSON.stringify(ladder.topology(registry, seen))) as Record<string, Json> & { nodes: Json[] };
  const forgeries: readonly Json[] = [
    { ...shown, apiVersion: 'idunn.topology/v2' },
    { ...shown, edges: [] },
    { ...shown, nodes: [...shown.nodes, ...shown.nodes] },
    { ...shown, colour: 'green' },
    { ...shown, nodes: [{ ...(shown.nodes[0] as object), observation: { state: 'unknown' } }] },
    null,
  ];
  for (const forged of forgeries) assert.equal(answerOf(ladder.parseTopology(forged)), 'topology-unreadable');
});

test('the published JSON Schemas are those that the package reads with; npm run schemas writes them anew', () => {
  for (const [name, schema] of Object.entries(ladder.jsonSchemas())) {
    const published = JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8')) as unknown;
    assert.deepEqual(published, JSON.parse(JSON.stringify(schema)), name);
  }
});
