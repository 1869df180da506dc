import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { Running } from '../records/body.ts';
import { type DeployEvidence, slotOf } from './evidence.ts';
import { because } from './failing.ts';
import { interpreterChanged } from './sealed.ts';

/** What a process says of itself, as far as it may be believed. */
export type Judged =
  | { readonly kind: 'silent' }
  | { readonly kind: 'warming' }
  /** Active, under exactly the granted epoch where there is state. */
  | { readonly kind: 'active' }
  | { readonly kind: 'wrong'; readonly why: Refusal };

const SILENT: Judged = { kind: 'silent' };

/**
 * Judges the observer's and the channel's newest words about one activation. A word about another activation or epoch
 * is worth nothing (I5); one that claims a lease that was not granted ends the candidate (I1). `granted` is the epoch
 * that the row names this activation under, `null` before. `alone`: a restart, which needs no observer.
 * `brought`: what was admitted is brought back by this launch, which may run under another interpreter of the host.
 */
export function judgeWord(
  e: DeployEvidence,
  plan: Plan,
  activation: string,
  lease: { readonly granted: number | null; readonly alone?: boolean; readonly brought?: Running },
): Judged {
  const { word, presence } = slotOf(e, activation);
  const relayed = word.kind === 'seen' && word.value.activation === activation ? word.value : null;
  const changed = lease.brought !== undefined && interpreterChanged(plan, lease.brought) !== null;
  const disagreement = relayed?.disagreements.find(({ code }) => !(changed && code === 'executable-mismatch'));
  if (disagreement !== undefined) {
    return { kind: 'wrong', why: because(disagreement.code, disagreement.detail) };
  }
  const own =
    presence.kind === 'seen' && presence.value.presence.activation === activation ? presence.value.presence : null;
  const words = [relayed?.present ?? null, own].filter((said) => said !== null);
  for (const said of words) {
    if (claimsTooMuch(plan, said, lease.granted)) {
      return {
        kind: 'wrong',
        why: because(
          'wrote-before-lease',
          `It says ${said.state} under epoch ${said.epoch ?? 'none'}; granted was ${lease.granted ?? 'none'}.`,
        ),
      };
    }
  }
  const wrote = e.marks.firstWrites[activation];
  if (wrote !== undefined && (lease.granted === null || wrote.epoch > lease.granted)) {
    return {
      kind: 'wrong',
      why: because('wrote-before-lease', `It wrote under epoch ${wrote.epoch}, which nobody granted.`),
    };
  }
  if (words.some(({ state }) => state === 'failed')) {
    return { kind: 'wrong', why: because('candidate-failed', own?.detail || 'Its presence says failed.') };
  }
  // For permissions the lease connection counts as soon as it speaks; before the grant only the observer does (I4).
  const relayedOnly = lease.granted === null && plan.state !== null && lease.alone !== true;
  const decisive = relayedOnly ? relayed?.present : (own ?? relayed?.present);
  if (decisive === null || decisive === undefined) return SILENT;
  if (decisive.state === 'active' && (plan.state === null || decisive.epoch === lease.granted))
    return { kind: 'active' };
  const heard = relayed !== null && relayed.present !== null;
  return heard || (lease.alone === true && own !== null) ? { kind: 'warming' } : SILENT;
}

function claimsTooMuch(
  plan: Plan,
  said: { readonly state: string; readonly epoch: number | null },
  granted: number | null,
): boolean {
  if (plan.state === null) return said.epoch !== null;
  if (said.epoch !== null && (granted === null || said.epoch > granted)) return true;
  return granted === null && said.state === 'active';
}
