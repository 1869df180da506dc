import type { Digest, Refusal } from '@idunn/kernel';
import type { Body, Running } from '../records/body.ts';
import { type Attempt, attempt, type Decision, repeat, tolerate } from './decision.ts';
import { type Answered, nonceKey } from './effects.ts';
import { answerTo, type DeployEvidence } from './evidence.ts';

/**
 * The nonce that this engine wrote beside the rows once all of `readers` ran, or a fresh one. A program that copied the
 * database when it began has every earlier one in its copy (I1).
 */
function nonceAtHand(e: DeployEvidence, readers: readonly string[]): string {
  const written = e.answers[nonceKey(readers)]?.effect;
  return written?.kind === 'write-nonce' ? written.nonce : e.fresh.nonce;
}

/** Who is asked together, and the plan whose stores they are asked for. */
interface Asked {
  readonly plan: Digest;
  readonly readers: readonly string[];
}

const writingOf = (e: DeployEvidence, { plan, readers }: Asked) =>
  ({ kind: 'write-nonce', plan, nonce: nonceAtHand(e, readers), readers }) as const;

/** How often a store that is held is asked to take the nonce; the lease driver has patience of its own each time. */
const NONCE_ATTEMPTS = 2;

/**
 * Writes the nonce beside the rows, for `readers` that run. Where one of `holders`, which this handover displaces,
 * hangs in a write of its own and lets nobody else write, the nonce is left out: nobody echoes it then, and the fence
 * is the end of the holder's whole tree (F22). A store that a stranger holds is waited for; nothing is ended for its
 * sake (I7).
 */
export function writeNonce(
  e: DeployEvidence,
  asked: Asked,
  holders: readonly Body[],
  options: Attempt,
  then: () => Decision,
): Decision {
  const effect = writingOf(e, asked);
  const answered = answerTo<'write-nonce'>(e, effect);
  const held = answered !== undefined && answered.attempts >= NONCE_ATTEMPTS ? writersIn(answered) : [];
  const isTheirs = held.length > 0 && held.every((pid) => holders.some(({ handle }) => handle.identity.pid === pid));
  return isTheirs ? then() : attempt(e, effect, options, then);
}

/** The processes that kept the nonce from being written when it was tried last. */
function writersIn({ outcome }: Pick<Answered, 'outcome'>): readonly unknown[] {
  if (outcome.ok || outcome.refusal.code !== 'store-busy') return [];
  const { detail } = outcome.refusal;
  const heldBy = typeof detail === 'object' && detail !== null && 'heldBy' in detail ? detail['heldBy'] : null;
  return Array.isArray(heldBy) ? heldBy : [];
}

/** Whether a process reads the nonce back through its own open connections. Silence is a no, never a yes (I10). */
export const echo = (
  e: DeployEvidence,
  { plan, readers }: Asked,
  activation: string,
  then: (heard: boolean) => Decision,
): Decision =>
  tolerate(
    e,
    { kind: 'echo', plan, activation, nonce: nonceAtHand(e, readers) },
    { what: `the echo of ${activation}`, attempts: 1 },
    (value) => then(value === true),
  );

/**
 * The nonce is written, then one process is asked for it, over a lease connection that is opened for it. There is no
 * other way: what is refused for good is asked again, for as long as it takes.
 */
export function echoOf(
  e: DeployEvidence,
  plan: Digest,
  launch: Running,
  holders: readonly Body[],
  untilMs: number | null,
  then: (heard: boolean) => Decision,
): Decision {
  const open = { kind: 'open-channel', handle: launch.handle } as const;
  const asked = { plan, readers: [launch.id] };
  const what = 'the nonce beside the lease rows';
  const failed = ({ reason, remedy }: Refusal): Decision =>
    repeat(e, writingOf(e, asked), { what: `${what}: ${reason}`, remedy, untilMs });
  return tolerate(e, open, { what: 'the lease connection', attempts: 8 }, () =>
    writeNonce(e, asked, holders, { what, untilMs, failed }, () => echo(e, asked, launch.id, then)),
  );
}
