import type { EngineApi, TransactionResult } from '@idunn/authority';
import { StoreFault } from '@idunn/kernel';
import type { Scenario } from './scenario.ts';
import type { Strike } from './strikes.ts';
import type { VirtualTime } from './virtual-time.ts';
import { OTHER_KIND, refOf } from './world/sources.ts';

type Taken = Awaited<ReturnType<EngineApi['submit']>>;

/** How long they wait for an answer before they ask again. */
const AGAIN_MS = 40;

/** Those who order deployments, restarts, cancels and expiries of a scenario, and what has come of each. */
export class Operators {
  readonly #scenario: Scenario;
  readonly #time: VirtualTime;
  readonly #engine: () => EngineApi | null;
  readonly #ordered = new Set<number>();
  readonly #orderedAbout = new Map<number, string>();
  /** Transactions that orders began: they end as well. */
  readonly #alsoAwaited = new Map<string, TransactionResult | null>();
  readonly #receipts: (string | null)[];
  readonly results: (TransactionResult | null)[];

  constructor(scenario: Scenario, time: VirtualTime, engine: () => EngineApi | null) {
    this.#scenario = scenario;
    this.#time = time;
    this.#engine = engine;
    this.#receipts = scenario.deploys.map(() => null);
    this.results = scenario.deploys.map(() => null);
  }

  get answered(): boolean {
    return [...this.results, ...this.#alsoAwaited.values()].every((result) => result !== null);
  }

  /** The transaction of the last deployment. */
  get last(): string | null | undefined {
    return this.#receipts.at(-1);
  }

  kindOf(transaction: string): Strike['kind'] {
    if (this.#receipts.includes(transaction)) return 'deploy';
    return this.#alsoAwaited.has(transaction) ? 'restart' : 'continuity';
  }

  /** The kind of every deployment that was asked for, and of whatever else was told to begin a phase. */
  kinds(told: readonly { readonly transaction: string }[]): readonly Strike['kind'][] {
    const others = [...new Set(told.map(({ transaction }) => transaction))].map((id) => this.kindOf(id));
    return [...this.#receipts.map(() => 'deploy' as const), ...others.filter((kind) => kind !== 'deploy')];
  }

  /** The same operation id again and again, until it is answered (I12). */
  async deploy(index: number): Promise<void> {
    const deploy = this.#scenario.deploys[index];
    if (deploy === undefined || this.#receipts[index] !== null) return;
    this.#time.after(AGAIN_MS, () => void this.deploy(index));
    const engine = this.#engine();
    if (engine === null) return;
    const { target, behaviour, revision, newSchema, otherKind } = deploy;
    const taken = await this.#asked(engine, {
      kind: 'up',
      target,
      ref: `${refOf(behaviour, revision)}${newSchema === true ? '!' : ''}${otherKind === true ? OTHER_KIND : ''}`,
      operationId: `operation-${index}`,
      actor: 'ada',
      tenant: 'local',
    });
    if (taken?.ok === true) this.#receipts[index] = taken.value.transaction;
    await this.refresh();
  }

  /** An operator's order about whatever the target has at work then, repeated under its id until it is answered. */
  async order(order: Scenario['orders'][number], index: number): Promise<void> {
    if (this.#ordered.has(index)) return;
    this.#time.after(AGAIN_MS, () => void this.order(order, index));
    const engine = this.#engine();
    if (engine === null) return;
    const about = { operationId: `order-${index}`, actor: 'ops', tenant: 'local' };
    if (order.kind === 'restart') {
      const taken = await this.#asked(engine, { ...about, kind: 'restart', target: order.target });
      if (taken === null) return;
      if (taken.ok) this.#alsoAwaited.set(taken.value.transaction, null);
    } else {
      const view = await engine.target(order.target);
      const transaction = this.#orderedAbout.get(index) ?? view?.transaction?.id ?? 'none';
      this.#orderedAbout.set(index, transaction);
      if ((await this.#asked(engine, { ...about, kind: order.kind, transaction })) === null) return;
    }
    this.#ordered.add(index);
  }

  /** `null`: the store could not be written, and nobody can say more than that; it is asked again. */
  async #asked(engine: EngineApi, command: Parameters<EngineApi['submit']>[0]): Promise<Taken | null> {
    try {
      return await engine.submit(command);
    } catch (fault) {
      if (fault instanceof StoreFault) return null;
      throw fault;
    }
  }

  /** Orders again what records that were put back know nothing of. */
  async afterRestoration(): Promise<void> {
    const engine = this.#engine();
    if (engine === null) return;
    for (const [index, id] of this.#receipts.entries()) {
      if (id === null || this.results[index] !== null || (await engine.transaction(id)) !== null) continue;
      this.#receipts[index] = null;
      void this.deploy(index);
    }
    for (const [id, result] of this.#alsoAwaited) {
      if (result === null && (await engine.transaction(id)) === null) this.#alsoAwaited.delete(id);
    }
  }

  /** Reads what has come of the commands; in the end also again of those that had ended. */
  async refresh(all = false): Promise<void> {
    const engine = this.#engine();
    if (engine === null) return;
    for (const [index, id] of this.#receipts.entries()) {
      if (id === null || (!all && this.results[index] !== null)) continue;
      const view = await engine.transaction(id);
      if (view !== null) this.results[index] = view.result;
    }
    for (const [id, result] of this.#alsoAwaited) {
      if (result === null) this.#alsoAwaited.set(id, (await engine.transaction(id))?.result ?? null);
    }
  }
}
