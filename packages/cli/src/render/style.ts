import { styleText } from 'node:util';
import type { TargetHealth } from '@idunn/client';
import type { Environment, Sink } from '../edge/environment.ts';

type Paint = (text: string) => string;

/** How text is made to stand out. Colour never carries a meaning alone: each state has a sign and a word too. */
export interface Style {
  /** What fits into a line; no limit where it is no terminal. */
  readonly columns: number;
  readonly unicode: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly note: Paint;
}

const plain: Paint = (text) => text;

/** Colours on a terminal unless NO_COLOR is set; line-drawing signs where the locale is UTF-8. */
export function styleOf(environment: Pick<Environment, 'variable'>, sink: Sink): Style {
  const locale =
    environment.variable('LC_ALL') ?? environment.variable('LC_CTYPE') ?? environment.variable('LANG') ?? '';
  const unicode = /utf-?8/i.test(locale) || !sink.terminal;
  const noColor = environment.variable('NO_COLOR');
  const color = sink.terminal && (noColor === undefined || noColor === '') && environment.variable('TERM') !== 'dumb';
  const columns = sink.terminal ? sink.columns : Number.POSITIVE_INFINITY;
  if (!color) return { columns, unicode, bold: plain, dim: plain, good: plain, bad: plain, note: plain };
  const paint =
    (format: 'bold' | 'dim' | 'cyan' | 'red' | 'yellow'): Paint =>
    (text) =>
      styleText(format, text, { validateStream: false });
  // Cyan and red, not green and red: the pair that most colour-blind eyes tell apart.
  return {
    columns,
    unicode,
    bold: paint('bold'),
    dim: paint('dim'),
    good: paint('cyan'),
    bad: paint('red'),
    note: paint('yellow'),
  };
}

export interface Signs {
  readonly yes: string;
  readonly no: string;
  readonly doubt: string;
  readonly never: string;
  readonly wait: string;
  readonly branch: string;
  readonly last: string;
  readonly arrow: string;
  readonly spinner: readonly string[];
}

export const signsOf = ({ unicode }: Style): Signs =>
  unicode
    ? {
        yes: '✔',
        no: '✖',
        doubt: '?',
        never: '○',
        wait: '◔',
        branch: '├─',
        last: '└─',
        arrow: '→',
        spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
      }
    : {
        yes: 'v',
        no: 'x',
        doubt: '?',
        never: 'o',
        wait: '~',
        branch: '|-',
        last: '`-',
        arrow: '->',
        spinner: ['|', '/', '-', '\\'],
      };

/** Sign and word of a target's health, no two alike in either. */
export function healthMark(health: TargetHealth, style: Style): string {
  const signs = signsOf(style);
  switch (health) {
    case 'healthy':
      return style.good(`${signs.yes} healthy`);
    case 'degraded':
      return style.note('! degraded');
    case 'unhealthy':
      return style.bad(`${signs.no} unhealthy`);
    case 'unknown':
      return style.note(`${signs.doubt} unknown`);
    case 'waiting':
      return style.note(`${signs.wait} waiting`);
    case 'deploying':
      return style.bold(`${style.unicode ? '→' : '>'} deploying`);
    case 'down':
      return '- down';
    case 'never-run':
      return style.dim(`${signs.never} never run`);
  }
}
