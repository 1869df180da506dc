import type { DeployEvidence, decide, decideContinuity, EnginePorts } from '@idunn/authority';
import type { Checked } from '../checkers/judged.ts';
import type { Scenario } from '../scenario.ts';

/** A variant of the decisions that breaks one promise, and the run in which its checker must see it. */
export interface Tooth {
  readonly name: string;
  readonly breaks: Checked;
  readonly scenario: Scenario;
  readonly decide?: typeof decide;
  readonly decideContinuity?: typeof decideContinuity;
  /** Around what one engine is given: the order of what it makes durable, and what it is told of the world. */
  readonly ports?: (ports: EnginePorts) => EnginePorts;
}

export type Slots = DeployEvidence['slots'];

export const mapSlots = (
  e: DeployEvidence,
  change: (slot: Slots[string], activation: string) => Slots[string],
): DeployEvidence => ({
  ...e,
  slots: Object.fromEntries(Object.entries(e.slots).map(([id, slot]) => [id, change(slot, id)])),
});

/** What the observer said, without what it disagreed with. */
export const agreeing = (word: Slots[string]['word']): Slots[string]['word'] =>
  word.kind === 'seen' ? { kind: 'seen', value: { ...word.value, disagreements: [] } } : word;
