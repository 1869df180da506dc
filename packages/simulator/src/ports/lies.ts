import { type Outcome, refusal, refused } from '@idunn/kernel';

/**
 * How an answer may be false. Only such lies are told as a second observation contradicts. Nobody can keep a promise
 * against a false word of the one authority over a fact, and none of these is told:
 *
 * - that every process of a tree is gone, or that nobody runs of a target or under an activation: for a program that
 *   compares no row its end is the fence, and the kernel alone can see it (I1);
 * - that rows are durable, or that a record was committed: a disk that lies about that shows it to nobody (I6);
 * - that a claim was made: it is made exclusively beside the state, where two fleets have nothing else to meet over
 *   (I1);
 * - that a row has moved: its driver commits where every program reads it, and a program that is granted what its row
 *   does not confirm refuses that epoch for ever; nobody else writes meanwhile (I1);
 * - what a program signs, that it read a nonce back, gave its lease up or took a grant: builds that lie are behaviours
 *   of their own, and nobody else can sign for one (I5);
 * - that the observer is satisfied: its signature is what Ready means (I4);
 * - that a rehearsal passed, that no freeze stands, or that no request is open: nobody else was asked (I7, I8, I12).
 *
 * The opposite of each is told where it can only make Idunn more careful.
 */
export interface Lies<T> {
  /** Says that it was done; nothing was. */
  readonly claimed?: () => T;
  /** Says that it was not done; it was. */
  readonly denied?: () => T;
  /** Tells of something else than what was asked about. */
  readonly garbled?: () => T;
}
export type Lie = keyof Lies<unknown>;

/** A refusal of something that was done. */
export const denied = (): Outcome<never> => refused(refusal('driver-fault', 'The driver says that it failed.'));
