import type { CheckAnswer } from '../edge/check-files.ts';
import type { Doubt, Guess, Launch } from '../init/model.ts';
import { renderFault } from './refusal.ts';
import { type Style, signsOf } from './style.ts';
import { plural } from './words.ts';

/** What `idunn init` did and what it rests on. */
export interface InitReport {
  readonly target: string;
  readonly kind: Launch['kind'];
  /** How the program would be started; `null` while the files have faults. */
  readonly start: CheckAnswer['start'];
  /** False when the files were only printed. */
  readonly written: boolean;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly guesses: readonly Guess[];
  readonly doubts: readonly Doubt[];
  readonly faults: CheckAnswer['faults'];
  /** The directory of the state; `null` without state. */
  readonly state: string | null;
  readonly next: readonly string[];
}

/** For a person: files, guesses with their evidence, doubts with what to do, and the next commands. */
export function renderInit(report: InitReport, style: Style): string[] {
  const signs = signsOf(style);
  const { written, files, guesses, doubts, faults, state, next } = report;
  return [
    ...(written
      ? files.map(({ path }) => `${style.good(signs.yes)} wrote ${path}`)
      : files.flatMap(({ path, text }) => [style.bold(`── ${path}`), ...text.trimEnd().split('\n'), ''])),
    '',
    style.bold('Guessed, and why'),
    ...guesses.flatMap(({ what, because }) => [`  ${signs.yes} ${what}`, style.dim(`      ${because}`)]),
    ...(doubts.length === 0 ? [] : ['', style.bold('Not sure; look at these')]),
    ...doubts.flatMap(({ what, remedy }) => [`  ${style.note(signs.doubt)} ${what}`, `      ${remedy}`]),
    '',
    ...(faults.length === 0
      ? [`${style.good(signs.yes)} both files hold together on this machine${startText(report)}`]
      : [`${style.bad(signs.no)} ${plural(faults.length, 'fault')} to correct before the first plan`]),
    ...faults.flatMap((fault) => ['', ...renderFault(fault, style)]),
    ...(state === null ? [] : [`  its state is kept in ${state}`]),
    '',
    style.bold('Next'),
    ...next.map((words) => `  ${words}`),
  ];
}

function startText({ start }: InitReport): string {
  switch (start) {
    case 'embedded':
      return '; a deployment costs its writers milliseconds';
    case 'overlapping':
      return '; old and new build run side by side, so a deployment costs nobody a request';
    case 'gated':
      return '; a new build starts when the old one has ended, and is tried on a copy of the state before';
    case null:
      return '';
  }
}
