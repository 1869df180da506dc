import type { Outcome } from '@idunn/kernel';
import { decideContinuity } from '../decisions/continuity.ts';
import { decide } from '../decisions/decide.ts';
import type { EngineOptions, EnginePorts } from '../ports/engine-ports.ts';
import { TargetActor } from './actor.ts';
import { takeUp } from './adopt.ts';
import type { Command, EngineEvent, OperationReceipt } from './api.ts';
import type { EngineCore } from './core.ts';
import { IncidentBook } from './incident-book.ts';
import { takeIn } from './intake.ts';
import { Journal } from './journal.ts';
import { Lane, type LaneMemory } from './lane.ts';
import { Library } from './library.ts';
import type { VigilMemory } from './vigil.ts';

/** What an engine process knows of one target beside the records, as plain values. A crash takes it. */
export interface Memory {
  readonly lanes: Readonly<Record<string, LaneMemory>>;
  readonly vigil: VigilMemory;
  /** Something happened that it has not yet decided about. */
  readonly due: boolean;
}

/** One target over its ports. The decisions are replaceable for the simulator's broken variants only. */
export interface Setting {
  readonly ports: EnginePorts;
  readonly options: EngineOptions;
  readonly target: string;
  readonly decide?: typeof decide | undefined;
  readonly decideContinuity?: typeof decideContinuity | undefined;
}

export interface Step {
  readonly memory: Memory;
  readonly told: readonly EngineEvent[];
  readonly faults: readonly unknown[];
}

/** An actor that decides only when it is told to. */
class SteppedActor extends TargetActor {
  due = false;

  override wake(): void {
    this.due = true;
  }

  async decides(): Promise<void> {
    this.due = false;
    super.wake();
    await this.settled();
  }
}

/**
 * The engine of one target, one step at a time, from any state of records and memory: the simulator's way through all
 * of them. An engine that steps is the engine that runs; it only stops after each durable write. Effects are begun by
 * `decide`, whose ports need not answer them, and carried out by `carryOut`.
 */
export class Stepper {
  readonly #journal: Journal;
  readonly #actor: SteppedActor;
  readonly #told: EngineEvent[] = [];
  readonly #faults: unknown[] = [];
  readonly #core: EngineCore;

  private constructor(setting: Setting) {
    const { options } = setting;
    let hasWritten = false;
    const { store } = setting.ports;
    const ports: EnginePorts = {
      ...setting.ports,
      store: {
        ...store,
        commit: async (batch) => {
          const result = await store.commit(batch);
          hasWritten = true;
          return result;
        },
      },
    };
    const journal = new Journal(ports.store);
    const fault = (one: unknown): void => void this.#faults.push(one);
    const emit = (event: EngineEvent): void => void this.#told.push(event);
    this.#journal = journal;
    this.#core = {
      ports,
      journal,
      library: new Library(journal),
      incidents: new IncidentBook(ports, journal, emit, fault, false),
      witness: { ports, options, journal, linkDown: () => false, standing: async () => [] },
      get stopped() {
        return hasWritten;
      },
      decide: setting.decide ?? decide,
      decideContinuity: setting.decideContinuity ?? decideContinuity,
      fresh: () => ({
        activation: ports.ids.fresh('act'),
        nonce: ports.ids.fresh('nonce'),
        request: ports.ids.fresh('req'),
      }),
      emit,
      fault,
      takenPorts: () => [],
      building: (_kind, work) => work(),
      concluded: () => undefined,
    };
    this.#actor = new SteppedActor(this.#core, setting.target);
  }

  /** Takes a command in, as an engine that runs does. */
  static submit({ ports, options }: Setting, command: Command): Promise<Outcome<OperationReceipt>> {
    return takeIn({ ports, options, journal: new Journal(ports.store) }, command);
  }

  /** A new engine over what is durable; `null` where nothing of the target is. */
  static async takeOver(setting: Setting): Promise<Step | null> {
    const stepper = new Stepper(setting);
    const { target } = setting;
    const held = await stepper.#journal.read('target', target);
    if (held === null) return null;
    const continuity = await stepper.#journal.read('continuity', target);
    await takeUp(stepper.#core, [{ actor: stepper.#actor, target: held, continuity }]);
    return stepper.#step();
  }

  /** Reads, decides and follows: up to the first durable write, or until there is nothing to decide. */
  static async decide(setting: Setting, memory: Memory): Promise<Step> {
    const stepper = await Stepper.#recalled(setting, memory);
    await stepper.#actor.decides();
    return stepper.#step();
  }

  /** Carries out one effect that was begun, by its key: of the lane of a transaction, or of continuity. */
  static async carryOut(setting: Setting, memory: Memory, lane: string | null, key: string): Promise<Step> {
    const stepper = await Stepper.#recalled(setting, memory);
    const actor = stepper.#actor;
    if (lane === null) await actor.vigil.carryOut(key);
    else {
      const held = actor.lanes.get(lane);
      if (held !== undefined) await actor.carryOut(held, key);
    }
    return stepper.#step();
  }

  /** The driver tells of a death, and its lease connection closes. */
  static async tellDeath(setting: Setting, memory: Memory, activation: string): Promise<Step> {
    const stepper = await Stepper.#recalled(setting, memory);
    stepper.#actor.doubt();
    stepper.#actor.closed(activation);
    return stepper.#step();
  }

  static async #recalled(setting: Setting, memory: Memory): Promise<Stepper> {
    const stepper = new Stepper(setting);
    const actor = stepper.#actor;
    for (const [id, known] of Object.entries(memory.lanes)) {
      const held = await stepper.#journal.read('transaction', id);
      if (held === null) throw new Error(`the transaction ${id} is not recorded`);
      const lane = new Lane(held.value, held.generation);
      lane.recall(known);
      actor.lanes.set(id, lane);
    }
    actor.vigil.recall(memory.vigil);
    actor.due = memory.due;
    return stepper;
  }

  #step(): Step {
    const { lanes, vigil, due } = this.#actor;
    const memory: Memory = {
      lanes: Object.fromEntries([...lanes].map(([id, lane]) => [id, lane.memory])),
      vigil: vigil.memory,
      due,
    };
    return { memory, told: this.#told, faults: this.#faults };
  }
}
