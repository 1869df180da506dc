import type { Digest } from '@idunn/kernel';
import type { Running } from '../records/body.ts';
import { attempt, type Decision, tolerate, wait } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';

/** The nonce that this engine wrote beside the rows, or a fresh one: nobody can answer it without reading it there. */
export function nonceAtHand(e: DeployEvidence): string {
  const written = e.answers['write-nonce']?.effect;
  return written?.kind === 'write-nonce' ? written.nonce : e.fresh.nonce;
}

/** Whether a process reads the nonce back through its own open connections. Silence is a no, never a yes (I10). */
export const echo = (
  e: DeployEvidence,
  plan: Digest,
  activation: string,
  then: (heard: boolean) => Decision,
): Decision =>
  tolerate(
    e,
    { kind: 'echo', plan, activation, nonce: nonceAtHand(e) },
    { what: `the echo of ${activation}`, attempts: 1 },
    (value) => then(value === true),
  );

/** The nonce is written, then one process is asked for it, over a lease connection that is opened for it. */
export function echoOf(
  e: DeployEvidence,
  plan: Digest,
  launch: Running,
  untilMs: number | null,
  then: (heard: boolean) => Decision,
): Decision {
  const failed = (): Decision =>
    wait('the nonce beside the lease rows', 'idunn doctor', { untilMs, wakeAtMs: e.now.monotonicMs + 200 });
  const open = { kind: 'open-channel', handle: launch.handle } as const;
  return tolerate(e, open, { what: 'the lease connection', attempts: 8 }, () =>
    attempt(e, { kind: 'write-nonce', plan, nonce: nonceAtHand(e) }, { what: 'the nonce', untilMs, failed }, () =>
      echo(e, plan, launch.id, then),
    ),
  );
}
