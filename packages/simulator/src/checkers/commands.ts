import type { TransactionRecord } from '@idunn/authority';
import { canonicalJson } from '@idunn/kernel';
import type { Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/** A refusal that promises nothing about an earlier answer. */
const UNTOLD: ReadonlySet<string | null> = new Set(['intake-uncertain', 'operation-unknown']);

/**
 * I12: every command has one durable outcome. One operation is one transaction, however often it is asked for; a repeat
 * is answered as at first; another request under its id is refused; and what was withdrawn ends withdrawn.
 */
export function commands(world: World): readonly Violation[] {
  let run = new Map<string, string>();
  let answers = new Map<string, { readonly transaction: string; readonly request: string }>();
  let cancelled = new Set<string>();
  let copied = { run, answers, cancelled };
  return world.ledger.entries.flatMap((entry): Violation[] => {
    const detail = contradiction(entry);
    return detail === null ? [] : [{ of: 'I12', atMs: entry.atMs, detail }];
  });

  function contradiction(entry: Entry): string | null {
    switch (entry.kind) {
      case 'backed-up':
        copied = { run: new Map(run), answers: new Map(answers), cancelled: new Set(cancelled) };
        return null;
      // What was taken since went with the records: it is run again when it is asked for again.
      case 'restored':
        ({ run, answers, cancelled } = copied);
        return null;
      case 'durable':
        return ranTwice(entry);
      case 'answered':
        return answeredOtherwise(entry);
      case 'told-admitted':
      case 'told-ended': {
        const outcome = entry.kind === 'told-ended' ? entry.outcome : 'admitted';
        if (!cancelled.has(entry.transaction) || outcome === 'cancelled') return null;
        return `${entry.transaction} was cancelled, and ended ${outcome}`;
      }
      default:
        return null;
    }
  }

  function ranTwice({ mutations }: Extract<Entry, { kind: 'durable' }>): string | null {
    for (const { key, next } of mutations) {
      if (key.kind !== 'transaction' || next === null) continue;
      const { operation, id } = next as unknown as TransactionRecord;
      const before = run.get(operation);
      if (before !== undefined && before !== id) return `${operation} was run as ${before}, and again as ${id}`;
      run.set(operation, id);
    }
    return null;
  }

  function answeredOtherwise({ command, transaction, code, repeated }: Extract<Entry, { kind: 'answered' }>) {
    const id = command.operationId;
    const before = answers.get(id);
    const request = canonicalJson(command);
    if (before === undefined) {
      if (transaction === null) return null;
      answers.set(id, { transaction, request });
      if (command.kind === 'cancel') cancelled.add(transaction);
      return null;
    }
    if (request !== before.request) return transaction === null ? null : `${id} was taken for another request as well`;
    if (transaction === null) return UNTOLD.has(code) ? null : `${id} was accepted before, and is refused: ${code}`;
    if (transaction !== before.transaction) return `${id} was answered ${before.transaction}, then ${transaction}`;
    return repeated ? null : `${id} was answered as new twice`;
  }
}
