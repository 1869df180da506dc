import type { EventAnswer, Followed } from '@idunn/client';
import type { Environment } from '../edge/environment.ts';
import { renderOutcome } from './outcome.ts';
import { renderCurrent, renderPhase, renderWait } from './phases.ts';
import { fold, noProgress, overPhases, type Progress } from './progress.ts';
import { type Style, styleOf } from './style.ts';
import { fit } from './table.ts';

/** Shows one transaction while it runs. */
export interface Reporter {
  told(followed: Followed): void;
  /** The newest that is known. */
  readonly progress: Progress;
  /** Leaves the screen as it is and stops drawing. */
  end(): void;
}

export type ReportKind = 'live' | 'plain' | 'json';

export function reporterFor(kind: ReportKind, environment: Environment, target: string, transaction: string): Reporter {
  const start = noProgress(target, transaction);
  switch (kind) {
    case 'json':
      return jsonReporter(environment, start);
    case 'plain':
      return plainReporter(environment, start);
    case 'live':
      return liveReporter(environment, start);
  }
}

/** One JSON object a line. A snapshot stands for events that were missed, so it is told as those events. */
function jsonReporter({ out }: Environment, start: Progress): Reporter {
  let progress = start;
  return {
    get progress() {
      return progress;
    },
    told(followed) {
      const before = progress;
      progress = fold(progress, followed);
      if (followed.kind === 'event') out.write(`${JSON.stringify(followed.event)}\n`);
      if (followed.kind !== 'snapshot') return;
      for (const event of missedEvents(before, progress)) out.write(`${JSON.stringify(event)}\n`);
    },
    end: () => undefined,
  };
}

function missedEvents(before: Progress, after: Progress): EventAnswer[] {
  const { target, transaction } = after;
  const phases = after.phases
    .filter((line) => !before.phases.some(({ phase }) => phase === line.phase))
    .map(({ phase, atMs, tookMs, note }): EventAnswer => {
      return { event: 'phase', at: new Date(atMs).toISOString(), target, transaction, phase, tookMs, note };
    });
  return after.outcome === null ? phases : [...phases, after.outcome];
}

/** A wait that is over sooner is not worth a line. */
const WORTH_SAYING_MS = 1_000;

/** A line for each thing that is over, and for each wait that lasts; for logs, pipes and CI. */
function plainReporter(environment: Environment, start: Progress): Reporter {
  const style = styleOf(environment, environment.out);
  const say = (lines: readonly string[]): void => {
    for (const line of lines) environment.out.write(`${line}\n`);
  };
  let progress = start;
  let cancelWait = (): void => undefined;
  const noteWait = (before: Progress): void => {
    if (progress.wait?.what === before.wait?.what) return;
    cancelWait();
    const { wait } = progress;
    if (wait === null) return;
    cancelWait = environment.after(WORTH_SAYING_MS, () => say(renderWait({ wait, lost: null }, style)));
  };
  say([header(start, style)]);
  return {
    get progress() {
      return progress;
    },
    told(followed) {
      const before = progress;
      progress = fold(progress, followed);
      say(newlyOver(before, progress).map(({ line, end }) => renderPhase(line, end, style)));
      noteWait(before);
      if (progress.lost !== null && before.lost === null) say(renderWait({ wait: null, lost: progress.lost }, style));
      // The first word of each step; what it prints is kept, and comes with a failure.
      if (progress.step !== null && progress.step.step !== before.step?.step) {
        say([`      ${progress.step.step}: ${progress.step.text}`]);
      }
      if (progress.outcome !== null && before.outcome === null) say(renderOutcome(progress.outcome, style));
    },
    end() {
      cancelWait();
    },
  };
}

const FRAME_MS = 100;

/** Done phases scroll by; what is at work is drawn again in place below them. */
function liveReporter(environment: Environment, start: Progress): Reporter {
  const { out } = environment;
  const style = styleOf(environment, out);
  let progress = start;
  let frame = 0;
  let drawn = 0;
  const erase = (): void => {
    if (drawn > 0) out.write(`\u001b[${drawn}A\u001b[J`);
    drawn = 0;
  };
  const draw = (): void => {
    if (progress.outcome !== null) return;
    const lines = renderCurrent(worthShowing(progress, environment.nowMs()), environment.nowMs(), frame, style).map(
      (line) => fit(line, out.columns),
    );
    out.write(`${lines.join('\n')}\n`);
    drawn = lines.length;
  };
  const stopFrames = environment.every(FRAME_MS, () => {
    frame += 1;
    erase();
    draw();
  });
  out.write(`${header(start, style)}\n`);
  draw();
  return {
    get progress() {
      return progress;
    },
    told(followed) {
      const before = progress;
      progress = fold(progress, followed);
      erase();
      for (const { line, end } of newlyOver(before, progress)) {
        out.write(`${fit(renderPhase(line, end, style), out.columns)}\n`);
      }
      if (progress.outcome !== null && before.outcome === null) {
        for (const line of renderOutcome(progress.outcome, style)) out.write(`${line}\n`);
      }
      draw();
    },
    end() {
      stopFrames();
    },
  };
}

/** Without a wait that is over sooner than it could be read. */
const worthShowing = (progress: Progress, nowMs: number): Progress =>
  progress.wait !== null && nowMs - Date.parse(progress.wait.since) < WORTH_SAYING_MS
    ? { ...progress, wait: null }
    : progress;

const header = ({ target, transaction }: Progress, style: Style): string =>
  `${style.bold(target)}  ${style.dim(transaction)}`;

function newlyOver(before: Progress, after: Progress): ReturnType<typeof overPhases> {
  const told = new Set(overPhases(before).map(({ line }) => line.phase));
  return overPhases(after).filter(({ line }) => !told.has(line.phase));
}
