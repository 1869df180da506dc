import type { RecordOf, TransactionRecord } from '@idunn/authority';
import type { Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/** What was written down before it was done. */
export class Announced {
  readonly launches = new Set<string>();
  /** Activations that continuity mints ahead. */
  readonly spares = new Set<string>();
  readonly incarnations = new Set<string>();
  readonly #moves = new Set<string>();
  readonly #successors = new Set<string>();
  readonly #predecessors = new Map<string, number>();
  /** Whether the last that was to take its place was a restart of continuity. */
  readonly #broughtBack = new Map<string, boolean>();
  /** Targets of which a launch that nobody is to follow gives the lease back. */
  readonly #emptied = new Set<string>();

  take({ mutations, atMs }: Extract<Entry, { kind: 'durable' }>): void {
    for (const { key, next } of mutations) {
      if (next === null) continue;
      if (key.kind === 'activation') this.launches.add(key.id);
      if (key.kind === 'continuity') this.#spare(next as unknown as RecordOf<'continuity'>);
      if (key.kind === 'incarnation') this.incarnations.add(key.id);
      if (key.kind === 'transaction') this.#passage(next as unknown as TransactionRecord, atMs);
    }
  }

  #spare({ spare }: RecordOf<'continuity'>): void {
    if (spare !== null) this.spares.add(spare.activation);
  }

  #passage({ target, state, request }: TransactionRecord, atMs: number): void {
    if (state.phase === 'returning' && state.passage === null) this.#emptied.add(target);
    if (!('passage' in state) || state.passage === null) return;
    const { move, successor, predecessors } = state.passage;
    if (move !== null) this.#moves.add(`${target} ${move.to.epoch} ${move.to.activation}`);
    // Between its stores a move is made by taking the lease from everybody first.
    if (move !== null) this.#moves.add(`${target} ${move.to.epoch} null`);
    this.#successors.add(successor.launch.id);
    for (const { document } of predecessors) {
      const { activation } = document;
      this.#predecessors.set(activation, this.#predecessors.get(activation) ?? atMs);
      this.#broughtBack.set(activation, request.kind === 'continuity');
    }
  }

  moves(store: string, epoch: number, activation: string | null): boolean {
    const target = store.slice(0, store.indexOf('/'));
    return this.#moves.has(`${target} ${epoch} ${activation}`) || (activation === null && this.#emptied.has(target));
  }

  routes = (activation: string): boolean => this.#successors.has(activation);
  displaces = (activation: string): boolean => this.#predecessors.has(activation);
  isBroughtBack = (activation: string): boolean => this.#broughtBack.get(activation) === true;
  /** When it was first written down that somebody is to take its place. */
  displacesSinceMs = (activation: string): number | undefined => this.#predecessors.get(activation);
}

/**
 * I6: intent is durable before an effect. Whatever is launched, published, fenced, granted or routed was written down
 * before, so that an engine that dies now is followed by one that knows of it. The disk is the world's own: what lay on
 * it at that moment.
 */
export function intents(world: World): readonly Violation[] {
  const announced = new Announced();
  return world.ledger.entries.flatMap((entry): Violation[] => {
    const unless = (known: boolean, detail: string): Violation[] =>
      known ? [] : [{ of: 'I6', atMs: entry.atMs, detail: `${detail}, and no record had said so` }];
    switch (entry.kind) {
      case 'durable':
        announced.take(entry);
        return [];
      case 'minted': {
        const { activation: id } = entry;
        return unless(announced.launches.has(id) || announced.spares.has(id), `${id} was minted`);
      }
      case 'started':
        return unless(announced.launches.has(entry.activation), `${entry.activation} was started`);
      case 'expected':
        return unless(announced.incarnations.has(entry.incarnation), `${entry.incarnation} was published`);
      case 'asked':
        return unless(announced.displaces(entry.activation), `${entry.activation} was asked to give its lease up`);
      case 'row': {
        const { store, epoch, activation } = entry;
        return unless(announced.moves(store, epoch, activation), `${store} names ${activation} at ${epoch}`);
      }
      case 'routed':
        return entry.activations.flatMap((id) => unless(announced.routes(id), `${id} was routed`));
      default:
        return [];
    }
  });
}
