import type { OutcomeLine } from '@idunn/client';

/** An end that no transaction reported: there is nothing to measure, or we looked on no longer. */
export const unmeasured = (
  said: Pick<OutcomeLine, 'target' | 'transaction' | 'outcome' | 'refusal'>,
  nowMs: number,
): OutcomeLine => ({
  event: 'outcome',
  at: new Date(nowMs).toISOString(),
  ...said,
  incarnation: null,
  revision: null,
  durationMs: null,
  ownMs: null,
  writeGapMs: null,
  requests: null,
});
