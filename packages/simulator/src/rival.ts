import { createEngine, type EngineApi, QUEUE_LIMIT, RECORD_KINDS, type TransactionResult } from '@idunn/authority';
import { type FakeStore, fakeStore } from './fake-store.ts';
import { fakePorts } from './ports/all.ts';
import { Life } from './ports/life.ts';
import type { RivalScenario } from './rarer.ts';
import { refOf, type TargetShape } from './world/sources.ts';
import { silent, type World } from './world/world.ts';

/** The fleet of the other authority. */
export const RIVAL_FLEET = 'elsewhere';

/** How long it is away when it has died, and how soon an unanswered command is given again. */
const DOWN_MS = 25;
const AGAIN_MS = 40;

/** Told apart from any build of ours by its number alone. */
const RIVAL_REVISIONS = 900;

/**
 * Another authority with records of its own, whose fleet was given the same target over the same state root: by an
 * operator who copied a binding, or restored a machine that another one had taken over from. The world is one, and each
 * hears of its own drivers only.
 */
export class Rival {
  readonly #scenario: RivalScenario;
  readonly #target: string;
  readonly #shape: TargetShape;
  readonly #world: World;
  readonly #ears: Ears = { listeners: silent() };
  readonly #store: FakeStore;
  readonly #fresh: (prefix: string) => string;
  readonly #onFault: (fault: unknown) => void;
  #life: Life | null = null;
  #engine: EngineApi | null = null;
  #points = 0;
  readonly #receipts = new Map<number, string>();
  readonly results = new Map<number, TransactionResult>();

  constructor(
    scenario: RivalScenario,
    shape: TargetShape,
    world: World,
    more: { readonly fresh: (prefix: string) => string; readonly onFault: (fault: unknown) => void },
  ) {
    this.#scenario = scenario;
    this.#target = scenario.target;
    this.#shape = { ...shape, attended: scenario.attended ?? shape.attended ?? false, fleet: RIVAL_FLEET };
    this.#world = hearing(world, this.#ears);
    this.#fresh = more.fresh;
    this.#onFault = more.onFault;
    this.#store = fakeStore(RECORD_KINDS, {
      beforeWrite: () => (this.#dies() ? 'die' : 'go'),
      afterWrite: ({ mutations }) => {
        world.ledger.note({ kind: 'durable', mutations });
        return this.#dies() ? 'die' : 'go';
      },
    });
  }

  get answered(): boolean {
    return this.results.size === this.#scenario.deploys.length;
  }

  begin(): void {
    this.#live();
    this.#scenario.deploys.forEach(({ atMs }, index) => {
      this.#world.time.after(atMs, () => void this.#deploy(index));
    });
  }

  /** The world tells each of them what happens in it. */
  join(world: World): void {
    const [first, second] = [world.listeners, this.#ears];
    world.listeners = {
      died: (...told) => (first.died(...told), second.listeners.died(...told)),
      correlated: (...told) => (first.correlated(...told), second.listeners.correlated(...told)),
      said: (...told) => (first.said(...told), second.listeners.said(...told)),
      firstWrite: (...told) => (first.firstWrite(...told), second.listeners.firstWrite(...told)),
      closed: (...told) => (first.closed(...told), second.listeners.closed(...told)),
      link: (...told) => (first.link(...told), second.listeners.link(...told)),
    };
  }

  #live(): void {
    const world = this.#world;
    world.listeners = silent();
    const life = new Life(
      world,
      { fate: () => (this.#dies() ? 'die-before' : this.#dies() ? 'die-after' : 'go'), garbles: () => false },
      () => this.#died(),
    );
    const ports = fakePorts(world, life, {
      shapes: { [this.#target]: this.#shape },
      clients: new Map(),
      store: this.#store.open(),
      ids: { fresh: this.#fresh },
    });
    this.#life = life;
    this.#engine = createEngine(ports, {
      fleet: RIVAL_FLEET,
      machine: 'local',
      observerTarget: null,
      targets: () => [this.#target],
      queueDepth: () => QUEUE_LIMIT,
      onFault: this.#onFault,
    });
    this.#engine.subscribe((event) => {
      if (event.event === 'outcome' && life.alive) void this.#look();
    });
    void this.#engine.start().then(() => this.#look());
  }

  #dies(): boolean {
    this.#points += 1;
    if (this.#points !== this.#scenario.crashAt) return false;
    this.die('a death of the rival');
    return true;
  }

  die(at: string): void {
    this.#life?.die(at);
  }

  #died(): void {
    this.#world.listeners = silent();
    this.#store.crash();
    this.#engine = null;
    this.#world.time.after(DOWN_MS, () => this.#live());
  }

  async #deploy(index: number): Promise<void> {
    const deploy = this.#scenario.deploys[index];
    if (deploy === undefined || this.#receipts.has(index)) return;
    this.#world.time.after(AGAIN_MS, () => void this.#deploy(index));
    const taken = await this.#engine?.submit({
      kind: 'up',
      target: this.#target,
      ref: refOf(deploy.behaviour, RIVAL_REVISIONS + index),
      operationId: `rival-${index}`,
      actor: 'eve',
      tenant: 'local',
    });
    if (taken?.ok === true) this.#receipts.set(index, taken.value.transaction);
    await this.#look();
  }

  async #look(): Promise<void> {
    for (const [index, id] of this.#receipts) {
      const result = (await this.#engine?.transaction(id))?.result ?? null;
      if (result !== null) this.results.set(index, result);
    }
  }
}

interface Ears {
  listeners: World['listeners'];
}

/** The one world, heard with other ears. */
const hearing = (world: World, ears: Ears): World =>
  new Proxy(world, {
    get: (at, name) => (name === 'listeners' ? ears.listeners : Reflect.get(at, name)),
    set: (at, name, value) => Reflect.set(name === 'listeners' ? ears : at, name, value),
  });
