import type { Refusal } from '@idunn/kernel';
import type { Correlation } from '../ports/observer-port.ts';
import type { Passage } from '../records/passage.ts';
import { type DeployEvidence, slotOf } from './evidence.ts';
import { because } from './failing.ts';

/**
 * The Ready receipt for the launch at hand. What the observer says now counts; only while it is away does the one count
 * that it gave before, to this engine or to one before it (I4). One about another activation never does (I5).
 */
export function receiptAtHand(e: DeployEvidence, passage: Passage): Correlation['ready'] {
  const { id } = passage.successor.launch;
  const { word } = slotOf(e, id);
  const said = word.kind === 'seen' && word.value.activation === id ? word.value.ready : null;
  const receipt = word.kind === 'unknown' ? (e.marks.receipts[id] ?? passage.receipt ?? null) : said;
  return receipt !== null && receipt.activation === id ? receipt : null;
}

/** Nobody says now how things stand: what changes the graph waits, and a deadline that passes meanwhile says why. */
export function observerAway(e: DeployEvidence, activation: string): Refusal | null {
  const { word } = slotOf(e, activation);
  return word.kind === 'unknown' ? because('observer-unreachable', `The observer: ${word.because}.`) : null;
}
