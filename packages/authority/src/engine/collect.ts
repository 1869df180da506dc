import type { Digest } from '@idunn/kernel';
import type { EngineCore } from './core.ts';

/**
 * Every release that something may still need: admitted, stranded, named by an open transaction, or among the last that
 * the binding keeps (F4, F13).
 */
export async function releasesToKeep(core: EngineCore): Promise<readonly Digest[]> {
  const keep = new Set<Digest>();
  for (const { value: target } of await core.journal.all('target')) {
    for (const body of [target.admitted, target.stranded]) if (body !== null) keep.add(body.release);
    const plan = target.admitted === null ? null : await core.library.plan(target.admitted.plan);
    const retained = target.retained.slice(0, plan?.retainReleases ?? target.retained.length);
    for (const release of retained) keep.add(release);
    for (const id of [...target.queue, ...target.draining]) {
      const tx = await core.journal.read('transaction', id);
      for (const release of releasesIn(tx?.value.state)) keep.add(release);
    }
  }
  return [...keep].sort();
}

function releasesIn(value: unknown): readonly Digest[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    name === 'release' && typeof item === 'string' ? [item as Digest] : releasesIn(item),
  );
}

/** Builds and collections take turns: what is being sealed has no record yet that could keep it. */
export class BuildGate {
  #builds = 0;
  #collecting: Promise<void> | null = null;

  async build<T>(work: () => Promise<T>): Promise<T> {
    while (this.#collecting !== null) await this.#collecting;
    this.#builds += 1;
    try {
      return await work();
    } finally {
      this.#builds -= 1;
    }
  }

  /** Collects unless a build is on its way; the next conclusion tries again, also after a fault. */
  collectWhenIdle(mayCollect: () => boolean, collect: () => Promise<void>, onFault: (fault: unknown) => void): void {
    if (this.#collecting !== null || this.#builds > 0 || !mayCollect()) return;
    this.#collecting = (async () => {
      try {
        await collect();
      } catch (fault) {
        onFault(fault);
      } finally {
        this.#collecting = null;
      }
    })();
  }
}
