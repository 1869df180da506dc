import type { Violation } from './checkers/judged.ts';
import { CALM, type Scenario } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { FAULTS, type FaultName, impossible, KINDS, type KindName, STRUCK_PHASES, type Strike } from './strikes.ts';

/** One cell of phase × fault × transaction kind: it was run, or says why it cannot be. */
export type Cell = Strike &
  (
    | { readonly reached: true; readonly outcome: string; readonly violations: readonly Violation[] }
    | { readonly reached: false }
  ) & {
    /** Why the cell cannot be; `null` where it can. */
    readonly because: string | null;
  };

export const STRIKES: readonly Strike[] = KINDS.flatMap((kind) =>
  STRUCK_PHASES.flatMap((phase) => FAULTS.map((fault) => ({ kind, phase, fault }))),
);

/**
 * The smallest run in which a transaction of the kind enters the phase, and the fault strikes there. A restart aborts
 * when what it launched dies or it is cancelled before its fence, and returns when what it launched never is ready.
 */
function struck(strike: Strike, seed = 1): Scenario {
  const { kind, phase } = strike;
  const doomed = phase === 'returning';
  const second = phase === 'aborting' ? 'never-warms' : doomed ? 'never-active' : 'good';
  const behaviour = kind === 'restart' && doomed ? 'lies-when-relaunched' : 'good';
  const first = { target: 'app', atMs: 10, behaviour, revision: 1 } as const;
  const cause: Strike =
    kind === 'restart'
      ? { kind, phase: 'candidate-started', fault: 'cancelled' }
      : { kind, phase: 'activation-observed', fault: 'candidate-killed' };
  const strikes = phase === 'aborting' && kind !== 'deploy' ? [cause, strike] : [strike];
  const calm = { ...CALM, seed, shapes: { app: { stores: 1, routed: true } }, strikes };
  switch (kind) {
    case 'deploy':
      return { ...calm, deploys: [first, { target: 'app', atMs: 900, behaviour: second, revision: 2 }] };
    case 'continuity':
      return { ...calm, deploys: [first], kills: [{ target: 'app', atMs: 900 }] };
    case 'restart':
      return { ...calm, deploys: [first], orders: [{ target: 'app', atMs: 900, kind: 'restart' }] };
  }
}

/** Runs one cell, also one that cannot be: nothing may get there. */
export async function cellOf(strike: Strike): Promise<Cell> {
  const because = impossible(strike);
  const simulation = new Simulation(struck(strike));
  const { violations, results } = await simulation.run();
  if (!simulation.struck.has(strike)) return { ...strike, reached: false, because };
  return { ...strike, reached: true, because, outcome: results.at(-1)?.outcome ?? 'open', violations };
}

/** The table as text: `+` ran clean, `!` broke a promise, `-` cannot be, a blank was not reached. */
export function printed(cells: readonly Cell[]): string {
  const at = (kind: KindName, phase: Strike['phase'], fault: FaultName): string => {
    const cell = cells.find((one) => one.kind === kind && one.phase === phase && one.fault === fault);
    if (cell === undefined) return ' ';
    if (!cell.reached) return cell.because === null ? ' ' : '-';
    return cell.violations.length === 0 ? '+' : '!';
  };
  const legend = FAULTS.map((fault, index) => `${String.fromCharCode(97 + index)} ${fault}`).join(', ');
  const head = FAULTS.map((_, index) => String.fromCharCode(97 + index)).join(' ');
  const rows = KINDS.flatMap((kind) => [
    `${kind.padEnd(22)} ${head}`,
    ...STRUCK_PHASES.map((phase) => `  ${phase.padEnd(20)} ${FAULTS.map((fault) => at(kind, phase, fault)).join(' ')}`),
  ]);
  const reasons = [...new Set(cells.flatMap((cell) => (cell.reached || cell.because === null ? [] : [cell.because])))];
  return [legend, ...rows, ...reasons.map((reason) => `-: ${reason}`)].join('\n');
}
