import type { Verify, VerifyCheck } from '@idunn/client';
import { type Style, signsOf } from './style.ts';
import { table } from './table.ts';
import { plural, short } from './words.ts';

/** One line for each check, then one sentence. What could not be seen is never shown as well. */
export function renderVerify({ target, incarnation, revision, verdict, checks }: Verify, style: Style): string[] {
  const count = (wanted: VerifyCheck['verdict']): number => checks.filter((check) => check.verdict === wanted).length;
  const name = `${style.bold(target)} at ${short(revision)} (${short(incarnation)})`;
  const signs = signsOf(style);
  const sentence = {
    ok: `${style.good(`${signs.yes} ok:`)} ${name} is what was sealed, in all ${plural(checks.length, 'check')}.`,
    differs:
      `${style.bad(`${signs.no} differs:`)} ${name} ` +
      `is not what was sealed, in ${plural(count('differs'), 'check')}.`,
    unknown:
      `${style.note(`${signs.doubt} not checkable:`)} ${plural(count('unknown'), 'check')} of ${name} ` +
      'could not be made, and that is not ok.',
  }[verdict];
  return [...table(checks.map((check) => [mark(check, style), check.check, check.detail])), '', sentence];
}

function mark({ verdict }: VerifyCheck, style: Style): string {
  const signs = signsOf(style);
  switch (verdict) {
    case 'ok':
      return style.good(`${signs.yes} ok`);
    case 'differs':
      return style.bad(`${signs.no} differs`);
    case 'unknown':
      return style.note(`${signs.doubt} not checkable`);
  }
}
