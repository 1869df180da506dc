import type { Digest } from '@idunn/kernel';
import type { RunnerPort } from '../ports/runner-port.ts';
import type { StageId } from '../ports/source-port.ts';
import type { ReleaseStorePort, StagePort } from '../ports/stage-port.ts';
import { targetOf } from '../source/stage-paths.ts';

export type Collector = ReturnType<typeof createCollector>;

/**
 * Deletes what nothing names any more. Never: a release that `keep` names, a stage that is worked in, or the newest
 * release of a target that no `keep` has named yet, because its caller may still be writing the record that will
 * (F4).
 */
export function createCollector({
  stages,
  releases,
  runner,
}: {
  readonly stages: StagePort;
  readonly releases: ReleaseStorePort;
  readonly runner: RunnerPort;
}) {
  const busy = new Map<StageId, number>();
  const fresh = new Map<string, Digest>();
  /** Deletions under way, by release or stage: whoever is about to use one waits for its end, then finds it gone. */
  const going = new Map<string, Promise<void>>();

  const removeOne = async (name: string, remove: () => Promise<void>): Promise<void> => {
    const removal = remove().finally(() => going.delete(name));
    going.set(name, removal);
    await removal;
  };

  return {
    busyStages: (): ReadonlySet<StageId> => new Set(busy.keys()),

    /** A daemon that died in the middle of a step left its processes there: they end before their stage goes. */
    async endLeftBehind(target: string, own: StageId): Promise<void> {
      for (const stage of await stages.list()) {
        if (targetOf(stage) === target && (stage === own || !busy.has(stage))) await runner.endAll(stage);
      }
    },

    /** From here on the release is not collected until a `keep` has named it once. */
    async hold(target: string, release: Digest): Promise<void> {
      fresh.set(target, release);
      await going.get(release);
    },

    letGo(target: string): void {
      fresh.delete(target);
    },

    async busy<T>(stage: StageId, work: () => Promise<T>): Promise<T> {
      busy.set(stage, (busy.get(stage) ?? 0) + 1);
      try {
        await going.get(stage);
        return await work();
      } finally {
        const left = (busy.get(stage) ?? 1) - 1;
        if (left === 0) busy.delete(stage);
        else busy.set(stage, left);
      }
    },

    async collect(keep: readonly Digest[]): Promise<void> {
      const kept = new Set<string>(keep);
      for (const [target, release] of fresh) if (kept.has(release)) fresh.delete(target);
      for (const release of await releases.list()) {
        // Asked again before each deletion: sealing goes on meanwhile.
        if (kept.has(release) || [...fresh.values()].includes(release)) continue;
        await removeOne(release, () => releases.remove(release));
      }
      for (const stage of await stages.list()) {
        if (busy.has(stage) || kept.has(`sha256:${stage.slice(-64)}`)) continue;
        await removeOne(stage, async () => {
          await runner.endAll(stage);
          await stages.discard(stage);
        });
      }
    },
  };
}
