import type { Digest, JsonObject, Outcome } from '@idunn/kernel';

/** Who did something, and from where. */
export interface Actor {
  readonly actor: string;
  readonly tenant: string;
  /** The program, machine or address that the command came from. */
  readonly from: string;
}

/** What happened, before it has a place in the log. */
export interface AuditDraft extends Actor {
  /** Milliseconds since the Unix epoch, for people; the order is the sequence's. */
  readonly atMs: number;
  readonly kind: 'clearance' | 'operation' | 'recovered';
  /** What was done or asked for: `promote dev to qa`, `scale orchard-qa-a`. */
  readonly what: string;
  /** The slot, where one was meant; else the reference, credentials stripped. */
  readonly target: string;
  readonly outcome: 'granted' | 'refused' | 'begun' | 'done' | 'failed';
  /** Code and reason of a refusal, skipped rungs, notes. */
  readonly detail: JsonObject;
}

/** One line of the log, chained to the line before it. */
export interface AuditLine extends AuditDraft {
  readonly schema: 'idunn.audit/v1';
  readonly sequence: number;
  readonly previous: Digest;
  /** Over the RFC 8785 form of everything else in the line. */
  readonly digest: Digest;
}

/** A log that only grows. */
export interface AuditTrail {
  /** Answers when the line is durable. A refusal means that nothing may be done that the line should have told of. */
  append(draft: AuditDraft): Promise<Outcome<AuditLine>>;
}
