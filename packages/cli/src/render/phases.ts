import type { WaitNoteAnswer } from '@idunn/client';
import type { PhaseEnd, PhaseLine, Progress } from './progress.ts';
import { printable } from './refusal.ts';
import { type Style, signsOf } from './style.ts';
import { pad } from './table.ts';
import { duration, plural, timeOf } from './words.ts';

const NAME_WIDTH = 'write-lease-granted'.length;
const TIME_WIDTH = 10;

/** One phase that is over: whether it was reached, its name, the time it took, and its note. */
export function renderPhase(line: PhaseLine, end: PhaseEnd, style: Style): string {
  const took = line.tookMs === null ? '' : duration(line.tookMs);
  const note = line.note === null ? '' : `  ${style.dim(line.note)}`;
  const sign = end === 'stopped' ? style.bad(signsOf(style).no) : style.good(signsOf(style).yes);
  return `  ${sign} ${pad(line.phase, NAME_WIDTH)} ${took.padStart(TIME_WIDTH)}${note}`;
}

/** The phase at work, with its running time, its step, and the reason of a wait. */
export function renderCurrent(progress: Progress, nowMs: number, frame: number, style: Style): string[] {
  const { spinner } = signsOf(style);
  const sign = style.bold(spinner[frame % spinner.length] ?? '');
  const current = progress.phases.at(-1);
  const lines = [
    current === undefined ? `  ${sign} ${queuedText(progress)}` : `  ${sign} ${currentText(current, nowMs, style)}`,
  ];
  if (progress.step !== null) lines.push(style.dim(`      ${progress.step.step}: ${progress.step.text}`));
  return [...lines, ...renderWait(progress, style)];
}

const queuedText = ({ ahead }: Progress): string =>
  ahead > 0 ? `queued behind ${plural(ahead, 'command')}` : 'queued';

function currentText(line: PhaseLine, nowMs: number, style: Style): string {
  const running = duration(line.tookMs ?? Math.max(0, nowMs - line.atMs)).padStart(TIME_WIDTH);
  const note = line.note === null ? '' : `  ${style.dim(line.note)}`;
  return `${style.bold(pad(line.phase, NAME_WIDTH))} ${running}${note}`;
}

/** On what, since when, until when, and what ends it. */
export function waitText({ what, since, until, remedy }: WaitNoteAnswer): string {
  const limit = until === null ? 'without a limit' : `until ${timeOf(until)} at most`;
  const ending = remedy.startsWith('it ') ? remedy : `what to do: ${remedy}`;
  return printable(`on ${withoutStop(what)}, since ${timeOf(since)}, ${limit}; ${withoutStop(ending)}`);
}

const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');

/** Never a silent wait (F2). */
export function renderWait({ wait, lost }: Pick<Progress, 'wait' | 'lost'>, style: Style): string[] {
  const lines: string[] = [];
  if (wait !== null) {
    lines.push(`      ${style.note('waiting')} ${waitText(wait)}`);
  }
  if (lost !== null) {
    lines.push(
      `      ${style.note(lost.reason)}; asking again. ${lost.remedy} What is recorded goes on with the next daemon.`,
    );
  }
  return lines;
}
