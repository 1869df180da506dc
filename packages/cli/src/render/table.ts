import { stripVTControlCharacters } from 'node:util';

export const widthOf = (text: string): number => stripVTControlCharacters(text).length;

export const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Rows as aligned columns, two spaces apart; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0))).join('  '),
  );
}

const ESCAPE = '\u001b';
/** One sign, or what sets a colour. */
const PIECES = new RegExp(`${ESCAPE}\\[[\\d;]*m|.`, 'gsu');

/** Cuts a line to the terminal's width; the colours that it carries stay, and end where they ended. */
export function fit(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let left = Math.max(0, columns - 1);
  const pieces = (line.match(PIECES) ?? []).map((piece) => {
    if (piece.startsWith(ESCAPE)) return piece;
    left -= 1;
    return left === 0 ? `${piece}…` : left > 0 ? piece : '';
  });
  return pieces.join('');
}
