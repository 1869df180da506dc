import { type Json, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';
import { rank } from '../ladder/hop.ts';
import type { SlotRegistry } from '../registry/registry.ts';

export const TOPOLOGY_VERSION = 'idunn.topology/v1';

const code = z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'a code in kebab case');
const looked = {
  /** Milliseconds since the Unix epoch; `null` when nobody noted it. */
  observedAtMs: z.number().nullable(),
  /** What was seen to run; `null` when it was not seen. */
  revision: z.string().nullable(),
  /** For people; may be empty. */
  detail: z.string(),
};

/**
 * How one rung stands. "We could not look", "we looked and it had failed" and "nobody ever ran it" are different
 * facts, and each that is not green has a code that programs can tell it by.
 */
export const observationSchema = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('green'), ...looked }),
  z.strictObject({ state: z.literal('failed'), code, ...looked }),
  z.strictObject({ state: z.literal('unknown'), code, ...looked }),
  z.strictObject({ state: z.literal('never-run'), code: z.literal('never-run') }),
]);

export type Observation = z.infer<typeof observationSchema>;
export type RungState = Observation['state'];

interface Looked {
  readonly observedAtMs?: number;
  readonly revision?: string;
  readonly detail?: string;
}

const facts = ({ observedAtMs, revision, detail }: Looked) => ({
  observedAtMs: observedAtMs ?? null,
  revision: revision ?? null,
  detail: detail ?? '',
});

/** Makers of observations: one that is not green cannot be made without a code. */
export const observation = {
  green: (more: Looked = {}): Observation => ({ state: 'green', ...facts(more) }),
  failed: (why: string, more: Looked = {}): Observation => ({ state: 'failed', code: why, ...facts(more) }),
  unknown: (why: string, more: Looked = {}): Observation => ({ state: 'unknown', code: why, ...facts(more) }),
  neverRun: { state: 'never-run', code: 'never-run' } satisfies Observation,
} as const;

const nodeSchema = z.strictObject({
  name: z.string(),
  namespace: z.string(),
  hosts: z.array(z.string()),
  role: z.enum(['development', 'test', 'staging', 'production']),
  guarded: z.boolean(),
  /** Longest way from the first rung: a fact of the graph, for layouts. */
  rank: z.int().min(0),
  promotes_to: z.array(z.string()),
  meta: z.record(z.string(), z.json()),
  observation: observationSchema,
});

export const topologySchema = z.strictObject({
  apiVersion: z.literal(TOPOLOGY_VERSION),
  meta: z.record(z.string(), z.json()),
  nodes: z.array(nodeSchema),
  edges: z.array(z.strictObject({ from: z.string(), to: z.string() })),
  /** What somebody should read: attempts to lower the guard, observations that could not be used. */
  notes: z.array(z.string()),
});

/** All that a viewer needs to draw the ladder. It holds no colours, labels or positions. */
export type Topology = z.infer<typeof topologySchema>;
export type TopologyNode = Topology['nodes'][number];

/**
 * The ladder with what was observed of each slot, by its name. A slot that nobody observed never ran: absence is not
 * health (I10). What is no observation, or is one of no slot, is told in the notes and taken for nothing.
 */
export function topology(registry: SlotRegistry, observations: ReadonlyMap<string, Observation>): Topology {
  const { ladder, demotions } = registry;
  const ranks = rank(ladder);
  const notes = demotions.map(({ because }) => `The configuration tried to lower the guard: ${because}`);
  for (const name of observations.keys()) {
    if (!ladder.slots.some((slot) => slot.name === name))
      notes.push(`There is an observation of ${name}, which is no slot.`);
  }
  const nodes = ladder.slots.map((slot): TopologyNode => {
    const seen = observationSchema.safeParse(observations.get(slot.name) ?? observation.neverRun);
    if (!seen.success) notes.push(`The observation of ${slot.name} has not the form of one.`);
    const { name, namespace, role, guarded, meta = {} } = slot;
    return {
      name,
      namespace,
      hosts: [...slot.hosts],
      role,
      guarded,
      rank: ranks.get(name) ?? 0,
      promotes_to: [...slot.promotes_to],
      meta: structuredClone(meta) as TopologyNode['meta'],
      observation: seen.success ? seen.data : observation.unknown('observation-malformed'),
    };
  });
  const edges = nodes.flatMap((node) => node.promotes_to.map((to) => ({ from: node.name, to })));
  return { apiVersion: TOPOLOGY_VERSION, meta: structuredClone(ladder.meta) as Topology['meta'], nodes, edges, notes };
}

/** What needs attention: everything that is not green, the never run and the unknown included. */
export const notGreen = (of: Topology): readonly TopologyNode[] =>
  of.nodes.filter((node) => node.observation.state !== 'green');

/** A topology out of its JSON. Refused when it is of another version, or says two things about one edge or name. */
export function parseTopology(json: Json): Outcome<Topology> {
  const read = topologySchema.safeParse(json);
  if (!read.success)
    return unreadable(read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  const { nodes, edges } = read.data;
  const declared = nodes.flatMap((node) => node.promotes_to.map((to) => `${node.name} → ${to}`));
  if (declared.join() !== edges.map(({ from, to }) => `${from} → ${to}`).join()) {
    return unreadable('its edges are not those of its nodes');
  }
  if (new Set(nodes.map(({ name }) => name)).size !== nodes.length) return unreadable('two nodes have one name');
  return ok(read.data);
}

const unreadable = (because: string): Outcome<never> =>
  refused(refusal('topology-unreadable', `What was given is no ${TOPOLOGY_VERSION}: ${because}.`));
