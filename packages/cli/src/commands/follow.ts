import type { CommandRequest, Followed, OutcomeEvent, OutcomeLine, OutcomeNameAnswer } from '@idunn/client';
import { type Context, printJson } from '../context.ts';
import { type Reporter, reporterFor } from '../render/reporter.ts';
import { duration } from '../render/words.ts';
import { unmeasured } from './outcome-line.ts';

export interface FollowOptions {
  /** Return once the command is durable, without looking on. */
  readonly detach?: boolean;
  /** Look on for at most so many seconds. */
  readonly timeout?: number;
  /** Plain lines also on a terminal. */
  readonly plain?: boolean;
}

/** How long a daemon that is gone is asked for again before we stop looking on. */
const GIVE_UP_MS = 60_000;

/** A command that was recorded, and the transaction that it began or is about. */
export interface Taken {
  readonly request: CommandRequest;
  readonly target: string;
  readonly transaction: string;
}

/**
 * Shows the transaction until it ends, we are interrupted, or the time is up. The command is durable in the daemon:
 * looking away never stops it, and the answer is then `waiting`.
 */
export async function followTransaction(
  context: Context,
  taken: Taken,
  options: FollowOptions,
): Promise<OutcomeNameAnswer> {
  const { environment, client, json } = context;
  const { target, transaction } = taken;
  const kind = json ? 'json' : environment.out.terminal && options.plain !== true ? 'live' : 'plain';
  if (options.detach === true) return leave(context, taken, 'detached');
  const stop = new AbortController();
  let because: Leaving = 'interrupted';
  const leaveFor = (reason: Leaving): void => {
    because = reason;
    stop.abort();
  };
  const forget = environment.onInterrupt(() => leaveFor('interrupted'));
  const endTimeout =
    options.timeout === undefined
      ? () => undefined
      : environment.after(options.timeout * 1_000, () => leaveFor('timeout'));
  const reporter = reporterFor(kind, environment, target, transaction);
  let endGiveUp: (() => void) | null = null;
  try {
    for await (const followed of client.events({ transaction, signal: stop.signal })) {
      reporter.told(followed);
      if (followed.kind === 'lost') endGiveUp ??= environment.after(GIVE_UP_MS, () => leaveFor('daemon-gone'));
      else {
        endGiveUp?.();
        endGiveUp = null;
      }
      if (ended(reporter, followed)) return ended(reporter, followed)?.outcome ?? 'waiting';
    }
  } finally {
    reporter.end();
    forget();
    endTimeout();
    endGiveUp?.();
  }
  return leave(context, taken, because);
}

const ended = ({ progress }: Reporter, followed: Followed): OutcomeEvent | null =>
  followed.kind === 'lost' ? null : progress.outcome;

type Leaving = 'detached' | 'interrupted' | 'timeout' | 'daemon-gone';

function leave(
  { environment, json }: Context,
  { request, target, transaction }: Taken,
  because: Leaving,
): OutcomeNameAnswer {
  const about = 'target' in request ? target : transaction;
  if (json) printJson(environment, stillGoing(target, transaction, environment.nowMs()));
  else {
    environment.err.write(
      `${sentenceOf(because)} ${target} goes on in ${transaction}.\n` +
        (because === 'daemon-gone' ? '  start it:    idunn daemon --detach\n' : '') +
        `  look again:  idunn ${request.kind} ${about} --operation-id ${request.operationId}\n` +
        '  or:          idunn status --watch\n',
    );
  }
  return 'waiting';
}

function sentenceOf(because: Leaving): string {
  switch (because) {
    case 'detached':
      return 'The command is recorded.';
    case 'interrupted':
      return 'No longer looking on; nothing was stopped.';
    case 'timeout':
      return 'The time to look on is over; nothing was stopped.';
    case 'daemon-gone':
      return `The daemon has not answered for ${duration(GIVE_UP_MS)}; the next one takes the work up again.`;
  }
}

const stillGoing = (target: string, transaction: string, nowMs: number): OutcomeLine =>
  unmeasured({ target, transaction, outcome: 'waiting', refusal: null }, nowMs);
