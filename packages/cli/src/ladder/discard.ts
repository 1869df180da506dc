import { canonicalJson, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { type Discard, requiresConfirmation, type Slot } from '@idunn/ladder';
import type { LadderContext } from './context.ts';

/** What would be lost, in a sentence. */
export function discardSentence(discard: Discard, to: string): string {
  switch (discard.kind) {
    case 'nothing':
      return `Nothing of ${to} would be lost.`;
    case 'newer-writes':
      return `${to} holds newer data: ${discard.target}, and the copy has ${discard.bundle}.`;
    case 'removed-rows':
      return `${to} has fewer rows of ${discard.buckets.join(', ')} than the copy: deleted ones would be back.`;
    case 'unknown':
      return `What ${to} would lose is not known: ${discard.because}.`;
  }
}

/** Whatever is not a proven nothing is typed by a person: the slot's own name, or `--confirm` with it. */
export async function confirmDiscard(
  { environment, say }: LadderContext,
  to: Slot,
  discard: Discard,
  confirmed: string | undefined,
): Promise<Outcome<void>> {
  if (!requiresConfirmation(discard)) return ok(undefined);
  const sentence = discardSentence(discard, to.name);
  say(sentence);
  const typed = confirmed ?? (await environment.ask(`Type ${to.name} to replace its data all the same: `));
  if (typed?.trim() === to.name) return ok(undefined);
  return refused(
    refusal('discard-not-confirmed', sentence, { remedy: `To replace it all the same, add: --confirm ${to.name}` }),
  );
}

/** What was written between the answer and the standstill is not lost unseen: the copy is refused then. */
export function stillAgreed(to: Slot, agreed: Discard, now: Discard): Outcome<void> {
  if (!requiresConfirmation(now) || canonicalJson({ ...now }) === canonicalJson({ ...agreed })) return ok(undefined);
  const reason = `${to.name} changed while the copy was made: ${discardSentence(now, to.name)}`;
  return refused(
    refusal('discard-not-confirmed', reason, { remedy: 'Repeat the command, and answer to what it says then.' }),
  );
}
