import type { Doctor, DoctorCheck } from '@idunn/client';
import { type Style, signsOf } from './style.ts';
import { table } from './table.ts';

export function renderDoctor({ checks }: Doctor, style: Style): string[] {
  const rows = table(checks.map((check) => [markOf(check, style), check.check, check.detail]));
  return rows.flatMap((row, index) => {
    const remedy = checks[index]?.remedy ?? null;
    return remedy === null ? [row] : [row, `    ${style.bold('what to do:')} ${remedy}`];
  });
}

function markOf({ verdict }: DoctorCheck, style: Style): string {
  const signs = signsOf(style);
  switch (verdict) {
    case 'good':
      return style.good(`${signs.yes} good`);
    case 'note':
      return style.note('! note');
    case 'bad':
      return style.bad(`${signs.no} bad`);
    case 'unknown':
      return style.note(`${signs.doubt} unknown`);
  }
}
