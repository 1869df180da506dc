import { decide, decideContinuity } from '@idunn/authority';
import { isCode, StoreFault } from '@idunn/kernel';
import type { Scenario } from '../../scenario.ts';
import { type Broken, Simulation } from '../../simulation.ts';

/** Members of what is decided, told and answered under which a code of the catalogue stands. */
const NAMES: ReadonlySet<string> = new Set(['code', 'incident', 'note']);

/** The codes of the catalogue that a course of the simulated world came to, wherever Idunn met one. */
export class Hearing {
  readonly codes = new Set<string>();

  /** The real decisions: what they are shown and what they answer is heard. */
  readonly #around: Broken = {
    decide: (tx, e) => {
      this.#refusalsIn(e.answers);
      const decision = decide(tx, e);
      this.hear(decision);
      return decision;
    },
    ports: (ports) => ({
      ...ports,
      workload: this.#listening(ports.workload),
      channel: this.#listening(ports.channel),
    }),
    decideContinuity: (e) => {
      this.#refusalsIn(e.answers);
      const decision = decideContinuity(e);
      this.hear(decision);
      return decision;
    },
  };

  /** A port whose refusals are heard, also those that something else overtakes before anybody decides on them. */
  #listening<T extends object>(port: T): T {
    const heard = Object.entries(port).map(([name, work]: [string, unknown]) => [
      name,
      typeof work !== 'function'
        ? work
        : (...asked: readonly unknown[]): unknown => {
            const answer: unknown = work.apply(port, asked);
            if (answer instanceof Promise)
              void answer.then(
                (said: unknown) => this.hear(said),
                () => undefined,
              );
            return answer;
          },
    ]);
    return Object.fromEntries(heard) as T;
  }

  simulation(scenario: Scenario): Simulation {
    return new Simulation(scenario, this.#around);
  }

  /** Runs a scenario to its end. */
  async run(scenario: Scenario): Promise<void> {
    const simulation = this.simulation(scenario);
    const { faults } = await simulation.run();
    for (const fault of faults) if (fault instanceof StoreFault) this.codes.add(fault.code);
    this.told(simulation);
  }

  /** What a simulation's engines have told so far. */
  told({ told }: Simulation): void {
    for (const event of told) this.hear(event);
  }

  hear(said: unknown): void {
    if (typeof said !== 'object' || said === null) return;
    for (const [name, value] of Object.entries(said)) {
      if (typeof value !== 'string') this.hear(value);
      else if (NAMES.has(name) && isCode(value)) this.codes.add(value);
    }
  }

  #refusalsIn(answers: Readonly<Record<string, { readonly outcome: { readonly ok: boolean } }>>): void {
    for (const { outcome } of Object.values(answers)) if (!outcome.ok) this.hear(outcome);
  }
}
