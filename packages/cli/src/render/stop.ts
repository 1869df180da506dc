import type { StopKind, StopRecord } from '@idunn/authority';
import { printable } from './refusal.ts';
import { type Style, signsOf } from './style.ts';

/** What `freeze` and `hold` answer with `--json`. */
export interface StopAnswer {
  readonly schema: 'idunn.stop/v1';
  readonly kind: StopKind;
  readonly target: string | null;
  readonly file: string;
  /** The command that clears it, run by the owner of its directory. */
  readonly clearedBy: string;
  readonly state: StopRecord['state'] | 'absent' | 'unreadable';
  readonly by: string | null;
  readonly reason: string | null;
  readonly since: string | null;
}

const STOPPED = { freeze: 'deployments', hold: 'restarts' } as const;

/** One sentence: whether the record stops anything, and by whose word. */
export function renderStop(stop: StopAnswer, style: Style): string[] {
  const { kind, since } = stop;
  const by = printable(stop.by ?? '');
  const signs = signsOf(style);
  const what = `${STOPPED[kind]} of ${style.bold(stop.target ?? 'the whole fleet')}`;
  const reason = stop.reason === null || stop.reason === '' ? '' : `: ${printable(stop.reason)}`;
  switch (stop.state) {
    case 'engaged':
      return [`${style.note(`${signs.wait} engaged:`)} ${what} wait, by ${by} since ${since}${reason}`];
    case 'clear':
      return [`${style.good(`${signs.yes} clear:`)} this ${kind} stops no ${what}, by ${by} since ${since}${reason}`];
    case 'absent':
      return [`${style.good(`${signs.yes} absent:`)} this ${kind} stops no ${what}`];
    case 'unreadable':
      return [
        `${style.bad(`${signs.no} unreadable:`)} ${what} wait${reason}`,
        `  record: ${stop.file}`,
        `  what to do: as the owner of its directory: ${printable(stop.clearedBy)}; it replaces what cannot be read`,
      ];
  }
}
