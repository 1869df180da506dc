import type { Entry } from '../world/ledger.ts';
import type { Judged, Violation } from './judged.ts';

/** From the reading of a stop to the deed that it admitted, where nothing came between. */
const SLACK_MS = 400;

/**
 * I8: while a freeze stands no deployment takes an irreversible step, the publication of its Expected and the fence of
 * an incumbent; while a hold stands nothing that was admitted is launched again. A step that was admitted just before
 * the stop may follow it, and after a crash the next engine goes on from an intent that was durable.
 */
export function freezes({ world, scenario }: Judged): readonly Violation[] {
  const found: Violation[] = [];
  const since = new Map<string, number>();
  let disturbedMs = Number.NEGATIVE_INFINITY;
  const admitted = new Map<string, string>();
  const engagedFor = (stop: 'freeze' | 'hold', target: string, atMs: number): boolean => {
    const fromMs = since.get(`${stop} ${target}`);
    return fromMs !== undefined && atMs - fromMs > SLACK_MS && disturbedMs < fromMs - SLACK_MS;
  };
  const violated = ({ atMs }: Entry, detail: string): void => void found.push({ of: 'I8', atMs, detail });
  // The operator's own restarts, a deployment of the same build and one that returns launch what is admitted as well.
  const only = scenario.orders.length === 0 && isEveryBuildOnce(scenario.deploys);
  for (const entry of world.ledger.entries) {
    switch (entry.kind) {
      case 'stop':
        if (entry.engaged) since.set(`${entry.stop} ${entry.target}`, entry.atMs);
        else since.delete(`${entry.stop} ${entry.target}`);
        break;
      case 'crash':
      case 'reboot':
      case 'observer':
        disturbedMs = entry.atMs;
        break;
      case 'told-admitted':
        if (entry.incarnation !== null) admitted.set(targetOf(entry.incarnation), entry.incarnation);
        break;
      case 'expected': {
        const target = targetOf(entry.incarnation);
        if (engagedFor('freeze', target, entry.atMs))
          violated(entry, `${entry.incarnation} was published under a freeze`);
        break;
      }
      case 'asked': {
        const { target = '', incarnation } = world.processes.get(entry.activation)?.activation ?? {};
        // A return asks a candidate that was never admitted.
        if (only && admitted.get(target) === incarnation && engagedFor('freeze', target, entry.atMs))
          violated(entry, `${entry.activation} was fenced under a freeze`);
        break;
      }
      case 'started': {
        const started = world.processes.get(entry.activation)?.activation;
        const again = started !== undefined && admitted.get(started.target) === started.incarnation;
        const alone = scenario.deploys.filter(({ target }) => target === started?.target).length === 1;
        if (only && alone && again && engagedFor('hold', started.target, entry.atMs)) {
          violated(entry, `${entry.activation} was restarted under a hold`);
        }
        break;
      }
      default:
        break;
    }
  }
  return found;
}

const targetOf = (incarnation: string): string => incarnation.slice(0, incarnation.lastIndexOf('@'));

const isEveryBuildOnce = (deploys: Judged['deploys']): boolean =>
  new Set(deploys.map(({ target, behaviour, revision }) => `${target} ${behaviour} ${revision}`)).size ===
  deploys.length;
