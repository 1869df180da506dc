import type { OutcomeNameAnswer, RefusalAnswer } from '@idunn/client';

/** Exit codes of the command; docs/cli.md lists them. */
export const EXIT = {
  /** Admitted, done or unchanged. */
  done: 0,
  /** Failed, `operator-required` included. */
  failed: 1,
  usage: 2,
  /** Refused or rejected: nothing changed. */
  refused: 3,
  /** Still going. */
  going: 4,
  /** Aborted, cancelled or expired: the incumbent serves. */
  aborted: 5,
  /** Rolled back after the fence (F18: an outcome of its own). */
  rolledBack: 6,
} as const;

export function exitOfOutcome(outcome: OutcomeNameAnswer): number {
  switch (outcome) {
    case 'admitted':
    case 'restored':
    case 'unchanged':
    case 'done':
      return EXIT.done;
    case 'rejected':
      return EXIT.refused;
    case 'aborted':
    case 'cancelled':
    case 'expired':
      return EXIT.aborted;
    case 'rolled-back':
      return EXIT.rolledBack;
    case 'operator-required':
      return EXIT.failed;
    case 'waiting':
      return EXIT.going;
  }
}

/** Codes that are no decision about the request: the daemon could not be had, or what was begun did not get there. */
const FAILURES: ReadonlySet<string> = new Set([
  'api-version-mismatch',
  'bundle-io-failed',
  'cluster-unreachable',
  'copy-not-neutralised',
  'daemon-answer-unexpected',
  'daemon-failed',
  'daemon-silent',
  'daemon-start-failed',
  'daemon-unreachable',
  'data-not-reached',
  'files-unusable',
  'ladder-operation-failed',
  'scale-not-reached',
  'stop-not-durable',
]);

export const exitOfRefusal = (refusal: RefusalAnswer): number =>
  FAILURES.has(refusal.code) ? EXIT.failed : EXIT.refused;
