import { ok } from '@idunn/kernel';
import {
  generationsOf,
  type Observation,
  observation,
  type ReleaseOperations,
  rank,
  type Slot,
  topology,
  wouldDiscard,
} from '@idunn/ladder';
import type { Environment } from '../../edge/environment.ts';
import { type LadderOptions, withLadder } from '../../ladder/context.ts';
import { discardSentence } from '../../ladder/discard.ts';
import { graphLines } from '../../render/ladder.ts';
import { table } from '../../render/table.ts';

/** `idunn ladder check`: reads the files and says what they come to. */
export const check = (environment: Environment, options: LadderOptions): Promise<number> =>
  withLadder(environment, options, async ({ open, style }) => {
    const { ladder, demotions } = open.registry;
    const guarded = ladder.slots.filter((slot) => slot.guarded).map(({ name }) => name);
    const lines = [
      `${ladder.slots.length} slots; guarded: ${guarded.join(', ') || 'none'}.`,
      open.hasBaseline
        ? 'The baseline holds the guard up: the ladder file cannot lower it.'
        : 'There is no baseline: whoever writes the ladder file decides what is guarded.',
      ...demotions.map(({ because }) => style.bad(`The ladder file tried to lower the guard: ${because}`)),
    ];
    const value = { schema: 'idunn.ladder-check/v1', slots: ladder.slots.length, guarded, demotions };
    return ok({ lines, value: { ...value, baseline: open.hasBaseline } });
  });

/** `idunn ladder show`: every slot with what the file says of it. */
export const show = (environment: Environment, options: LadderOptions): Promise<number> =>
  withLadder(environment, options, async ({ open }) => {
    const { ladder } = open.registry;
    const ranks = rank(ladder);
    const slots = ladder.slots.map((slot) => ({ ...slot, rank: ranks.get(slot.name) ?? 0 }));
    const rows = slots.map(({ name, role, guarded, namespace, hosts, promotes_to, rank: depth }) => [
      String(depth),
      name,
      role,
      guarded ? 'guarded' : '-',
      namespace,
      hosts.join(' ') || '-',
      promotes_to.join(' ') || '-',
    ]);
    const head = ['rank', 'slot', 'role', 'guard', 'namespace', 'hosts', 'promotes to'];
    const shown = slots.map(({ declaredAt, ...slot }) => ({ ...slot, line: declaredAt?.line ?? null }));
    return ok({ lines: table([head, ...rows]), value: { schema: 'idunn.ladder-show/v1', slots: shown } });
  });

export interface GraphOptions extends LadderOptions {
  readonly observe?: boolean;
}

/** `idunn ladder graph`: the ladder as a viewer gets it; with `--observe` each slot is looked at. */
export const graph = (environment: Environment, options: GraphOptions): Promise<number> =>
  withLadder(environment, options, async (context) => {
    const { registry } = context.open;
    const observations = new Map<string, Observation>();
    for (const slot of registry.ladder.slots) {
      const operations = options.observe === true ? await context.operations(slot) : null;
      if (operations === null) observations.set(slot.name, observation.unknown('not-looked-at'));
      else if (!operations.ok) observations.set(slot.name, observation.unknown(operations.refusal.code));
      else observations.set(slot.name, await observed(operations.value, slot, environment.nowMs()));
    }
    const drawn = topology(registry, observations);
    return ok({ lines: graphLines(drawn, context.style), value: drawn });
  });

/** A slot is green when all that runs in it is rolled out; nothing that runs in it is no health (I10). */
async function observed(operations: ReleaseOperations, slot: Slot, observedAtMs: number): Promise<Observation> {
  const workloads = await operations.workloads({ namespace: slot.namespace });
  if (!workloads.ok)
    return observation.unknown(workloads.refusal.code, { observedAtMs, detail: workloads.refusal.reason });
  if (workloads.value.length === 0) return observation.neverRun;
  const revision = [...new Set(workloads.value.map(({ release }) => release))].join(', ');
  for (const { name } of workloads.value) {
    const at = { namespace: slot.namespace, workload: name, deadlineMs: LOOK_MS };
    const end = await operations.awaitRollout(at, () => {});
    if (end.kind === 'failed')
      return observation.failed('rollout-failed', { observedAtMs, revision, detail: end.because });
    if (end.kind === 'ready') continue;
    const detail = `${name} waits on ${end.last?.waitingOn ?? 'its first word'}`;
    return observation.unknown('rolling-out', { observedAtMs, revision, detail });
  }
  return observation.green({ observedAtMs, revision });
}

/** How long one workload is looked at. */
const LOOK_MS = 2_000;

/** `idunn ladder compare FROM TO`: what runs in both, and what copying the data down would lose. */
export const compare = (environment: Environment, from: string, to: string, options: LadderOptions): Promise<number> =>
  withLadder(environment, options, async (context) => {
    const { guard, open } = context;
    const [one, other] = [guard.look({ slot: from }), guard.look({ slot: to })];
    if (!one.ok) return one;
    if (!other.ok) return other;
    const running = async (slot: Slot) => {
      const operations = await context.operations(slot);
      return operations.ok ? operations.value.workloads({ namespace: slot.namespace }) : operations;
    };
    const marked = async (slot: Slot) => {
      const data = await open.data(slot);
      if (data.ok) return data.value.watermark(slot);
      return { kind: 'unknown', because: data.refusal.reason } as const;
    };
    const [runs, ran] = [await running(one.value), await running(other.value)];
    const [mark, marks] = [await marked(one.value), await marked(other.value)];
    const discard =
      mark.kind === 'seen'
        ? wouldDiscard(mark.value, marks)
        : ({ kind: 'unknown', because: mark.kind === 'unknown' ? mark.because : `${from} holds no data` } as const);
    const releases = (read: typeof runs) =>
      read.ok
        ? read.value.map(({ name, release }) => `${name} ${release}`).join(', ') || 'nothing'
        : read.refusal.reason;
    const rows = [
      ['', from, to],
      ['runs', releases(runs), releases(ran)],
      ['data', markText(mark), markText(marks)],
    ];
    const side = (read: typeof runs, watermark: typeof mark) => ({
      workloads: read.ok ? read.value : null,
      watermark: watermark.kind === 'seen' ? watermark.value : null,
    });
    const value = { schema: 'idunn.ladder-compare/v1', from: side(runs, mark), to: side(ran, marks), discard };
    return ok({ lines: [...table(rows), '', discardSentence(discard, to)], value });
  });

type Marked = Parameters<typeof wouldDiscard>[1];

function markText(mark: Marked): string {
  if (mark.kind === 'absent') return 'none';
  if (mark.kind === 'unknown') return `unknown: ${mark.because}`;
  const counts = Object.entries(mark.value.magnitude ?? {}).map(([name, count]) => `${count} ${name}`);
  return [mark.value.mark ?? 'no mark', ...counts].join(', ');
}

/** `idunn ladder generations SLOT`: its namespaces, the newest first, and where its hosts lead. */
export const generations = (environment: Environment, name: string, options: LadderOptions): Promise<number> =>
  withLadder(environment, options, async (context) => {
    const slot = context.guard.look({ slot: name });
    if (!slot.ok) return slot;
    const operations = await context.operations(slot.value);
    if (!operations.ok) return operations;
    const namespaces = await operations.value.namespaces();
    if (!namespaces.ok) return namespaces;
    const found = generationsOf(slot.value, namespaces.value);
    const hosts = await Promise.all(
      slot.value.hosts.map(async (host) => ({ host, leadsTo: await operations.value.hostOwner(host) })),
    );
    const rows = found.map(({ namespace, madeAtMs }) => [
      namespace,
      new Date(madeAtMs).toISOString(),
      hosts
        .flatMap(({ host, leadsTo }) => (leadsTo.kind === 'seen' && leadsTo.value === namespace ? [host] : []))
        .join(' ') || '-',
    ]);
    const lines =
      found.length === 0 ? [`${name} has no generations.`] : table([['namespace', 'made', 'hosts'], ...rows]);
    return ok({ lines, value: { schema: 'idunn.ladder-generations/v1', slot: name, generations: found, hosts } });
  });
