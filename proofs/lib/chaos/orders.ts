import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../../../tests/e2e/lib/fleet.ts';
import type { Target } from './schedule.ts';

type Order = Parameters<Fleet['client']['command']>[0];
type Wanted = Order extends infer One ? (One extends Order ? Omit<One, 'operationId'> : never) : never;

/** An order that a durable receipt was given for. */
export interface Ordered {
  readonly operationId: string;
  readonly kind: Order['kind'];
  readonly transaction: string;
}

const ASK_AGAIN_MS = 200;
/** A daemon that may be away, stopped or without a disk is asked for so long. */
const GIVE_UP_MS = 60_000;
/** Refusals that say that nobody could be asked, or nothing be written; the same order is given again. */
const FOR_NOW = /^(?:daemon-|store-|records?-)/;

/** Gives orders to a daemon that may die over each of them, until each has its answer. */
export class Orders {
  readonly given: Ordered[] = [];
  /** Codes of refusals, with how often each was met. */
  readonly refused: Record<string, number> = {};
  /** Operation ids that were answered with two transactions (I12). */
  readonly twofold: string[] = [];
  readonly #fleet: Fleet;
  readonly #newest = new Map<string, string>();
  #count = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** The newest transaction that was asked for on the target. */
  newest(target: Target): string | undefined {
    return this.#newest.get(target);
  }

  /** The transaction, or `null` when the order was refused or nobody answered. */
  async give(wanted: Wanted): Promise<string | null> {
    this.#count += 1;
    const order: Order = { ...wanted, operationId: `chaos-${this.#count}` };
    const deadline = performance.now() + GIVE_UP_MS;
    while (performance.now() < deadline) {
      const answer = await this.#fleet.client.command(order);
      if (answer.ok) {
        const { transaction, target } = answer.value;
        if (order.kind === 'up' || order.kind === 'restart') this.#newest.set(target, transaction);
        this.given.push({ operationId: order.operationId, kind: order.kind, transaction });
        const again = await this.#fleet.client.command(order);
        if (again.ok && again.value.transaction !== transaction) this.twofold.push(order.operationId);
        return transaction;
      }
      const { code } = answer.refusal;
      this.refused[code] = (this.refused[code] ?? 0) + 1;
      if (!FOR_NOW.test(code)) return null;
      await pause(ASK_AGAIN_MS);
    }
    return null;
  }
}
