import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type * as Ladder from '../../index.ts';
import type {
  AuditDraft,
  Auditing,
  AuditLine,
  Clearance,
  Keys,
  ReleaseOperations,
  Slot,
  TargetRef,
} from '../../index.ts';

/** The package as its consumers see it: a copy of it can be held to the same guarantees. */
export type LadderPackage = typeof Ladder;

export function slotOf(name: string, more: Partial<Slot> = {}): Slot {
  return {
    name,
    namespace: `orchard-${name}`,
    hosts: [`${name}.example.test`],
    role: 'test',
    guarded: false,
    promotes_to: [],
    ...more,
  };
}

/** dev → qa → production; only production is guarded. */
export const SLOTS: readonly Slot[] = [
  slotOf('dev', { role: 'development', promotes_to: ['qa'] }),
  slotOf('qa', { promotes_to: ['production'] }),
  slotOf('production', { role: 'production', guarded: true, hosts: ['shop.example.test', 'bücher.example.test'] }),
];

export const BOTH_KEYS: Keys = { allowGuarded: true, environment: { IDUNN_ALLOW_GUARDED: '1' } };

/** An audit trail in memory; `broken` makes it refuse. */
export function memoryAuditing(broken = false): Auditing & { readonly lines: AuditDraft[] } {
  const lines: AuditDraft[] = [];
  return {
    lines,
    who: { actor: 'ada', tenant: 'local', from: 'test' },
    clock: { wallMs: () => 1 },
    trail: {
      append: async (draft): Promise<Outcome<AuditLine>> => {
        if (broken) return refused(refusal('audit-unwritable', 'The disk is full.'));
        lines.push(draft);
        return ok({
          ...draft,
          schema: 'idunn.audit/v1',
          sequence: lines.length,
          previous: `sha256:${'0'.repeat(64)}`,
          digest: `sha256:${'0'.repeat(64)}`,
        });
      },
    },
  };
}

/** The value of an outcome; a refusal is the test's failure. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`refused: ${outcome.refusal.code}: ${outcome.refusal.reason}`);
  return outcome.value;
}

/** The code of a refusal, or `granted`. */
export const answerOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'granted' : outcome.refusal.code);

export interface World {
  readonly clear: (ref: TargetRef, keys?: Keys) => Promise<Outcome<Clearance>>;
  readonly auditing: ReturnType<typeof memoryAuditing>;
}

export function worldOf(ladder: LadderPackage, slots: readonly Slot[] = SLOTS): World {
  const registry = valueOf(ladder.createRegistry(slots));
  const auditing = memoryAuditing();
  return {
    auditing,
    clear: (ref, keys = ladder.NO_KEYS) => ladder.createGuard({ registry, keys, auditing }).clear(ref),
  };
}

/** Operations that do nothing and remember which changes reached them. */
export function countingOperations(): ReleaseOperations & {
  readonly reached: string[];
  hosts: Record<string, string>;
  /** Namespaces in which nothing runs. */
  readonly empty: Set<string>;
} {
  const reached: string[] = [];
  const empty = new Set<string>();
  const hosts: Record<string, string> = {};
  const change =
    (name: string) =>
    async (_: Clearance, at: { readonly namespace: string }): Promise<Outcome<void>> => {
      reached.push(`${name} ${at.namespace}`);
      return ok(undefined);
    };
  return {
    description: 'nothing',
    reached,
    hosts,
    empty,
    currentRelease: async () => ({ kind: 'absent' }),
    workloads: async ({ namespace }) =>
      ok(empty.has(namespace) ? [] : [{ name: 'deployment/web', release: 'web:1', replicas: 1 }]),
    namespaces: async () => ok([]),
    exported: async () => ok(null),
    hostOwner: async (host) => {
      const value = hosts[host];
      if (value === 'unknown') return { kind: 'unknown', because: 'timeout' };
      return value === undefined ? { kind: 'absent' } : { kind: 'seen', value };
    },
    awaitRollout: async () => ({ kind: 'ready' }),
    setRelease: change('setRelease'),
    apply: change('apply'),
    sleep: change('sleep'),
    wake: change('wake'),
    routeHost: change('routeHost'),
    dropRoute: change('dropRoute'),
  };
}
