import type { AuthorizationAnswer, IncarnationStatus, Inspect, TargetStatus, TransactionAnswer } from '@idunn/client';
import { authorizationLines } from './authorization.ts';
import { renderDossier, section } from './dossier.ts';
import { renderRefusal } from './refusal.ts';
import { renderTarget, truthTable } from './status.ts';
import type { Style } from './style.ts';
import { duration } from './words.ts';

/** Everything about one id, as a page: how it stands now, then what was sealed and runs. */
export function renderInspect(answer: Inspect, nowMs: number, style: Style): string[] {
  const { kind, id, value, dossier } = answer;
  return [
    `${style.dim(kind)} ${style.bold(id)}`,
    ...standing(kind, value, nowMs, style),
    ...(dossier === null ? unsealed(kind) : renderDossier(dossier, style)),
  ];
}

const unsealed = (kind: Inspect['kind']): string[] =>
  kind === 'authorization' ? [] : ['', 'Nothing of it is sealed on record.'];

function standing(kind: Inspect['kind'], value: Inspect['value'], nowMs: number, style: Style): string[] {
  switch (kind) {
    case 'target':
      return ['', ...renderTarget(value as unknown as TargetStatus, nowMs, style)];
    case 'transaction':
      return transactionLines(value as unknown as TransactionAnswer, style);
    case 'incarnation':
      return ['', ...truthTable([value as unknown as IncarnationStatus], nowMs, style)];
    case 'release':
      return [];
    case 'authorization':
      return ['', ...authorizationLines(value as unknown as AuthorizationAnswer)];
  }
}

function transactionLines(transaction: TransactionAnswer, style: Style): string[] {
  const { kind, target, actor, phases, freezes, waitingOn, result } = transaction;
  return [
    ...section(
      'Transaction',
      [
        ['what', `${kind} of ${target}, by ${actor}`],
        ...phases.map(({ phase, at, tookMs, note }): [string, string] => [
          phase,
          `${at}  ${tookMs === null ? '' : duration(tookMs)}${note === null ? '' : `  ${note}`}`.trimEnd(),
        ]),
        ...freezes.map(({ phase, record, admittedAt }): [string, string] => [
          'freeze',
          `before ${phase}: ${record ?? 'none'}, ${admittedAt === null ? 'held' : `admitted at ${admittedAt}`}`,
        ]),
        ...(waitingOn === null ? [] : [['waits on', `${waitingOn.what}; ${waitingOn.remedy}`] as const]),
        ...(result === null ? [] : [['outcome', `${result.outcome} after ${duration(result.durationMs)}`] as const]),
      ],
      style,
    ),
    ...(result?.refusal ? ['', ...renderRefusal(result.refusal, style)] : []),
  ];
}
