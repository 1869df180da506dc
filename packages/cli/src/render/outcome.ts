import type { OutcomeEvent } from '@idunn/client';
import { renderRefusal } from './refusal.ts';
import { type Style, signsOf } from './style.ts';
import { duration, plural, short } from './words.ts';

/** The end of a transaction: one sentence that says what is admitted now, then the reason if it did not go well. */
export function renderOutcome(event: OutcomeEvent, style: Style): string[] {
  const reason = event.refusal === null ? [] : renderRefusal(event.refusal, style);
  return [headline(event, style), ...reason];
}

function headline(event: OutcomeEvent, style: Style): string {
  const signs = signsOf(style);
  const target = style.bold(event.target);
  const build = event.revision === null ? '' : ` at ${short(event.revision)}`;
  const took = duration(event.durationMs);
  const good = style.good(`${signs.yes} ${event.outcome}:`);
  const bad = style.bad(`${signs.no} ${event.outcome}:`);
  switch (event.outcome) {
    case 'admitted':
      return `${good} ${target}${build} serves${named(event)} after ${took} (${measures(event)}).`;
    case 'restored':
      return `${good} ${target}${build} serves again${named(event)} after ${took}.`;
    case 'unchanged':
      return `${good} ${target}${build} was admitted already${named(event)}; nothing was done.`;
    case 'done':
      return `${good} the state of ${target} is taken over; what waits, or idunn up ${event.target}, writes it.`;
    case 'rejected':
      return `${bad} ${target} was left as it is; nothing changed (${took}).`;
    case 'aborted':
    case 'cancelled':
    case 'expired':
      return event.incarnation === null
        ? `${bad} ${target} is as it was before: nothing of it is admitted (${took}).`
        : `${bad} ${target} is as it was before, the incumbent was not touched (${took}).`;
    case 'rolled-back':
      if (event.incarnation === null)
        return `${bad} nothing of ${target} is admitted, as before (${took}; ${measures(event)}).`;
      return `${bad} ${target} serves its earlier incarnation again (${took}; ${measures(event)}).`;
    case 'operator-required':
      return `${bad} ${target} cannot go on or back by itself (${took}).`;
    case 'waiting':
      return `${style.note(`${signs.wait} waiting:`)} ${target} goes on; idunn status --watch shows it.`;
  }
}

const named = ({ incarnation }: OutcomeEvent): string => (incarnation === null ? '' : ` as ${short(incarnation)}`);

function measures(event: OutcomeEvent): string {
  const { held, failed, longestHoldMs } = event.requests;
  // A gap longer than the deployment began before it: nobody wrote meanwhile, and nothing was held up.
  const { writeGapMs, durationMs } = event;
  const seen = writeGapMs !== null && writeGapMs <= durationMs;
  const gap = seen ? `write gap ${duration(writeGapMs)}` : 'no write gap seen';
  const hold =
    held === 0 ? 'no request held' : `${plural(held, 'request')} held for at most ${duration(longestHoldMs)}`;
  return `${duration(event.ownMs)} of it Idunn's own, ${gap}, ${hold}, ${failed} failed`;
}
