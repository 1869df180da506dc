import type { RolloutOutcome, Topology } from '@idunn/ladder';
import { EXIT } from '../exit.ts';
import { type Style, signsOf } from './style.ts';
import { table } from './table.ts';

/** The graph for people: a rung a line, lowest first, with what was seen of it. Each state has a sign and a word. */
export function graphLines({ nodes, notes }: Topology, style: Style): readonly string[] {
  const signs = signsOf(style);
  const rows = nodes
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ name, guarded, promotes_to, observation: seen }) => {
      const mark = {
        green: style.good(`${signs.yes} green`),
        failed: style.bad(`${signs.no} failed`),
        unknown: style.note(`${signs.doubt} unknown`),
        'never-run': style.dim(`${signs.never} never run`),
      }[seen.state];
      const why = seen.state === 'green' || seen.state === 'never-run' ? '' : seen.code;
      const leads = promotes_to.length === 0 ? '' : `${signs.arrow} ${promotes_to.join(', ')}`;
      const runs = 'revision' in seen ? (seen.revision ?? '') : '';
      return [mark, `${name}${guarded ? ' (guarded)' : ''}`, leads, runs, why];
    });
  return [...table(rows), ...notes.map((note) => style.bad(note))];
}

/** The one sentence that a rollout ends with, and its exit code: rolled back is an outcome of its own (F18). */
export function rolloutEnd(outcome: RolloutOutcome, what: string): { readonly line: string; readonly exit: number } {
  switch (outcome.kind) {
    case 'promoted':
      return { line: `promoted: ${what} runs ${outcome.to}; before, ${outcome.from ?? 'nothing'}.`, exit: EXIT.done };
    case 'rolled-back':
      return { line: `rolled back: ${outcome.because}; ${what} runs ${outcome.to} again.`, exit: EXIT.rolledBack };
    case 'rollback-failed':
      return {
        line: `rollback failed: ${outcome.because}; going back failed too: ${outcome.rollbackBecause}.`,
        exit: EXIT.failed,
      };
    case 'no-anchor':
      return { line: `failed: ${outcome.because}; nothing ran before that could be gone back to.`, exit: EXIT.failed };
  }
}
