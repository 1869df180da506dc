import type { OutcomeName, TargetRecord } from '@idunn/authority';
import type { Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import { mayLie } from './calm.ts';
import { Announced } from './intents.ts';
import type { Judged, Violation } from './judged.ts';
import { forgottenDeeds } from './restored.ts';

/** How a deployment ends that never came past its fence. */
const BEFORE_FENCE: ReadonlySet<OutcomeName> = new Set(['aborted', 'cancelled', 'expired', 'rejected']);

/** Whom lease and route name. */
interface Named {
  readonly row: string | null;
  readonly route: string | null;
}
const NOBODY: Named = { row: null, route: null };

/**
 * I7: before the fence the incumbent is untouched, and a candidate that fails leaves no trace on it. Nobody who serves
 * is ended but for a handover that was written down, or for its own word that it failed; and after a deployment that
 * ended before its fence, lease and route name whom they named when it began.
 */
export function incumbent({ world, scenario }: Judged): readonly Violation[] {
  const announced = new Announced();
  const served = new Served(world);
  const lost = forgottenDeeds(world);
  // A driver that tells what is not so may have led it past its fence; another fleet takes what it is given, and
  // records that were put back know less than the world.
  const isTrue = !mayLie(scenario) && scenario.rival === undefined && scenario.restored === undefined;
  return world.ledger.entries.flatMap((entry): Violation[] => {
    const violation = (detail: string): Violation[] => [{ of: 'I7', atMs: entry.atMs, detail }];
    if (entry.kind === 'durable') announced.take(entry);
    const before = entry.kind === 'told-ended' && isTrue ? served.before(entry) : null;
    const serves = entry.kind === 'ended' && entry.asked && served.isServing(entry.activation);
    if (!lost.has(entry)) served.take(entry);
    if (before !== null && entry.kind === 'told-ended') {
      const { row, route } = named(entry);
      if (row !== before.row) return violation(`${entry.transaction} left the lease with ${row}, not ${before.row}`);
      if (route !== null && route !== before.route)
        return violation(`${entry.transaction} left the route with ${route}, not ${before.route}`);
    }
    if (!serves || announced.displaces(entry.activation)) return [];
    // By its own word, or by one that a driver told falsely.
    if (world.processes.get(entry.activation)?.state === 'failed' || mayLie(scenario)) return [];
    return violation(`${entry.activation} served and was ended, and no handover had been written down`);
  });
}

const named = ({ row, route }: Extract<Entry, { kind: 'told-ended' }>): Named => ({
  row: row === 'nobody' ? null : row,
  route: route?.[0] ?? null,
});

/** Who serves each target by Idunn's word, whom lease and route name, and what deployments met when they began. */
class Served {
  readonly #world: World;
  readonly #standing = new Map<string, string>();
  readonly #named = new Map<string, Named>();
  readonly #begun = new Map<string, Named & { readonly target: string; alone: boolean }>();
  /** The transaction that each target was taken by. */
  readonly #owner = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  isServing(activation: string): boolean {
    return this.#standing.get(this.#targetOf(activation)) === activation;
  }

  /** What a deployment that ended before its fence had met, unless something else was done to the target since. */
  before({ transaction, outcome }: Extract<Entry, { kind: 'told-ended' }>): Named | null {
    const begun = this.#begun.get(transaction);
    return begun?.alone === true && BEFORE_FENCE.has(outcome) ? begun : null;
  }

  take(entry: Entry): void {
    switch (entry.kind) {
      case 'row': {
        const target = entry.store.slice(0, entry.store.indexOf('/'));
        this.#named.set(target, { ...this.#of(target), row: entry.activation });
        return;
      }
      case 'routed': {
        const [route = null] = entry.activations;
        const target = this.#targetOf(route ?? '');
        this.#named.set(target, { ...this.#of(target), route });
        return;
      }
      case 'durable':
        for (const { key, next } of entry.mutations) {
          if (key.kind !== 'target' || next === null) continue;
          this.#owner.set(key.id, (next as unknown as TargetRecord).takenBy ?? '');
        }
        return;
      case 'told-phase':
        return this.#begins(entry);
      case 'told-admitted':
      case 'told-restored':
      case 'told-ended':
        return this.#ends(entry);
      default:
        return;
    }
  }

  #targetOf = (activation: string): string => this.#world.activations.get(activation)?.target ?? '';
  #of = (target: string): Named => this.#named.get(target) ?? NOBODY;

  #begins({ target, transaction, phase }: Extract<Entry, { kind: 'told-phase' }>): void {
    // What drains is past everything that this is about.
    if (phase === 'draining' || phase === 'complete') return;
    for (const [other, begun] of this.#begun) {
      if (other !== transaction && begun.target === target) begun.alone = false;
    }
    if (phase !== 'planned') return;
    // What another had taken it for goes on meanwhile.
    const alone = ['', transaction].includes(this.#owner.get(target) ?? '');
    this.#begun.set(transaction, { ...this.#of(target), target, alone });
  }

  #ends(entry: Extract<Entry, { kind: 'told-admitted' | 'told-restored' | 'told-ended' }>): void {
    const { target, transaction, row, route } = entry;
    this.#begun.delete(transaction);
    const serves = row ?? route?.[0];
    const isBack = entry.kind !== 'told-ended' || entry.outcome === 'rolled-back';
    if (isBack && serves !== undefined) this.#standing.set(target, serves);
    // Neither forward nor back: what holds the lease is launched again and again, or ended for the next one.
    if (entry.kind === 'told-ended' && entry.outcome === 'operator-required') this.#standing.delete(target);
  }
}
