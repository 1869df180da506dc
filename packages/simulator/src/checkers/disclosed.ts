import type { TargetRecord } from '@idunn/authority';
import type { Entry } from '../world/ledger.ts';
import { mayLie } from './calm.ts';
import type { Judged, Violation } from './judged.ts';

/** How long a verdict that does not come may hold up what waits for it. */
const PATIENCE_MS = 30_000;

/**
 * I4: an observer that is back has judged all that is admitted and runs before anything begins to change the graph, or
 * was given the time for it. What it saw before it went says nothing; the observer's own target is judged by nobody.
 */
export function disclosed({ world, scenario }: Judged): readonly Violation[] {
  // What a driver tells falsely is believed, and records that are older than the world name others.
  if (mayLie(scenario) || scenario.rival !== undefined || scenario.restored !== undefined) return [];
  const seen = new Seen(scenario.observerTarget ?? null);
  return world.ledger.entries.flatMap((entry): Violation[] => {
    const unjudged = seen.begins(entry) ? seen.unjudged(entry.atMs) : [];
    seen.take(entry);
    return unjudged.map((activation) => ({
      of: 'I4',
      atMs: entry.atMs,
      detail: `the graph was to change before the observer, which was back, had judged ${activation}`,
    }));
  });
}

class Seen {
  readonly #observerTarget: string | null;
  #backMs: number | null = null;
  readonly #alive = new Set<string>();
  /** What ran when the observer came back, and was not judged since. */
  readonly #unjudged = new Set<string>();
  readonly #targets = new Map<string, Pick<TargetRecord, 'admitted' | 'stranded' | 'takenBy' | 'restart'>>();

  constructor(observerTarget: string | null) {
    this.#observerTarget = observerTarget;
  }

  /** A deployment begins to change the graph. */
  begins(entry: Entry): boolean {
    return entry.kind === 'told-phase' && entry.phase === 'expected-published' && entry.target !== this.#observerTarget;
  }

  unjudged(atMs: number): readonly string[] {
    if (this.#backMs === null || atMs - this.#backMs >= PATIENCE_MS) return [];
    return [...this.#targets].flatMap(([target, { admitted, stranded, takenBy, restart }]) => {
      const activation = admitted?.document.activation;
      // Beside whoever holds its lease it is not on duty.
      if (activation === undefined || stranded !== null || takenBy !== null || restart !== null) return [];
      return target !== this.#observerTarget && this.#unjudged.has(activation) ? [activation] : [];
    });
  }

  take(entry: Entry): void {
    switch (entry.kind) {
      case 'observer':
        this.#backMs = entry.up ? entry.atMs : null;
        this.#unjudged.clear();
        for (const activation of this.#alive) this.#unjudged.add(activation);
        return;
      case 'judged':
        this.#unjudged.delete(entry.activation);
        return;
      case 'started':
        this.#alive.add(entry.activation);
        return;
      case 'ended':
        this.#alive.delete(entry.activation);
        this.#unjudged.delete(entry.activation);
        return;
      case 'durable':
        for (const { key, next } of entry.mutations) {
          if (key.kind === 'target' && next !== null) this.#targets.set(key.id, next as unknown as TargetRecord);
        }
        return;
      default:
        return;
    }
  }
}
