import type { TargetRecord } from '@idunn/authority';
import type { Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import { mayLie } from './calm.ts';
import type { Judged, Violation } from './judged.ts';
import { forgotten, forgottenDeeds } from './restored.ts';

/** How long a death may be unheard of. */
const UNHEARD_MS = 1_000;

/**
 * I10: what was not found, timed out or could not be read never counts as stopped, dead, healthy or admitted. What
 * Idunn tells of a process is held against what was true of it: one that is told dead or exited did end, one that is
 * told admitted lives, and where nobody is told to be left neither lease nor route names anybody.
 */
export function absence({ world, scenario }: Judged): readonly Violation[] {
  // A driver that tells what is not so is believed, and what another fleet does is told by nobody here.
  if (mayLie(scenario) || scenario.rival !== undefined) return [];
  const seen = new Seen(world);
  return world.ledger.entries.flatMap((entry): Violation[] => {
    const detail = seen.contradicts(entry);
    seen.take(entry);
    return detail === null ? [] : [{ of: 'I10', atMs: entry.atMs, detail }];
  });
}

/** What was true so far, and whom Idunn shows to serve. */
class Seen {
  readonly #world: World;
  readonly #alive = new Set<string>();
  readonly #endedMs = new Map<string, number>();
  /** Targets to the time of the last end that nobody had asked for. */
  readonly #lostMs = new Map<string, number>();
  readonly #begunMs = new Map<string, number>();
  /** Whom the status shows to serve each target; what an engine told as it died nobody heard. */
  readonly #onDuty = new Map<string, string>();

  readonly #forgotten: ReadonlySet<string>;
  readonly #unrecorded: ReadonlySet<Entry>;

  constructor(world: World) {
    this.#world = world;
    this.#unrecorded = forgottenDeeds(world);
    this.#forgotten = forgotten(world);
  }

  take(entry: Entry): void {
    switch (entry.kind) {
      case 'started':
        this.#alive.add(entry.activation);
        return;
      case 'ended':
        this.#alive.delete(entry.activation);
        this.#endedMs.set(entry.activation, entry.atMs);
        // To records that were put back an end that they had asked for later is one that nobody asked for.
        if (!entry.asked || this.#unrecorded.has(entry))
          this.#lostMs.set(this.#world.activations.get(entry.activation)?.target ?? '', entry.atMs);
        return;
      case 'told-phase':
        if (!this.#begunMs.has(entry.transaction)) this.#begunMs.set(entry.transaction, entry.atMs);
        return;
      case 'durable':
        for (const { key, next } of entry.mutations) {
          if (key.kind !== 'target' || next === null) continue;
          const { stranded, admitted } = next as unknown as TargetRecord;
          const served = stranded ?? admitted;
          if (served !== null) this.#onDuty.set(key.id, served.document.activation);
        }
        return;
      default:
        return;
    }
  }

  contradicts(entry: Entry): string | null {
    switch (entry.kind) {
      case 'told-phase':
        return this.#restarts(entry);
      case 'told-admitted':
      case 'told-restored': {
        const named = entry.row ?? entry.route?.[0] ?? null;
        const endedMs = named === null ? undefined : this.#endedMs.get(named);
        if (endedMs === undefined || entry.atMs - endedMs <= UNHEARD_MS) return null;
        return `${named} was told admitted, and had ended ${entry.atMs - endedMs} ms before`;
      }
      case 'told-ended':
        return this.#exited(entry) ?? this.#nobody(entry);
      default:
        return null;
    }
  }

  /** A restart says what became of the one that it replaces. */
  #restarts({ target, note, transaction, phase }: Extract<Entry, { kind: 'told-phase' }>): string | null {
    if (phase !== 'activation-issued' || note !== 'died' || this.#begunMs.has(transaction)) return null;
    const served = this.#onDuty.get(target);
    return served !== undefined && this.#alive.has(served) ? `${served} was told dead, and lives` : null;
  }

  #exited({ target, transaction, code, atMs }: Extract<Entry, { kind: 'told-ended' }>): string | null {
    const begunMs = this.#begunMs.get(transaction);
    if (code !== 'candidate-exited' || begunMs === undefined) return null;
    const lostMs = this.#lostMs.get(target);
    if (lostMs !== undefined && lostMs >= begunMs && lostMs <= atMs) return null;
    return `a launch of ${transaction} was told exited, and none had`;
  }

  /** A target on which nothing was ever admitted is left as it was found. */
  #nobody({ target, transaction, outcome, row, route }: Extract<Entry, { kind: 'told-ended' }>): string | null {
    if (outcome === 'operator-required' || this.#onDuty.has(target)) return null;
    const all = [...(row === null || row === 'nobody' ? [] : [row]), ...(route ?? [])];
    const named = all.filter((activation) => !this.#forgotten.has(activation));
    return named.length === 0 ? null : `${transaction} was told ${outcome}, and ${named[0]} is left named`;
  }
}
