import type { Clock, JsonObject, Outcome } from '@idunn/kernel';
import type { Actor, AuditDraft, AuditLine, AuditTrail } from './port.ts';

/** Whose hand it is, and where it is written down. */
export interface Auditing {
  readonly trail: AuditTrail;
  readonly who: Actor;
  readonly clock: Pick<Clock, 'wallMs'>;
}

type What = Pick<AuditDraft, 'kind' | 'what' | 'target' | 'outcome'> & { readonly detail?: JsonObject };

/** Writes one line as it stands, now. */
export const record = ({ trail, who, clock }: Auditing, what: What): Promise<Outcome<AuditLine>> =>
  trail.append({ ...who, atMs: clock.wallMs(), detail: {}, ...what });
