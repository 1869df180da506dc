import type { Entry } from '../world/ledger.ts';
import { isCalmBut, isEveryBuildGood, isEveryBuildOnce } from './calm.ts';
import { Announced } from './intents.ts';
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
  const announced = new Announced();
  // What a crash or an outage of the observer put off is not held by a stop that came meanwhile.
  let disturbedMs = Number.NEGATIVE_INFINITY;
  let crashedMs = Number.NEGATIVE_INFINITY;
  let admitted = new Map<string, string>();
  let serving = new Map<string, string>();
  let copied = { admitted, serving };
  const engagedFor = (stop: 'freeze' | 'hold', target: string, atMs: number, unlessMs = disturbedMs): boolean => {
    const fromMs = since.get(`${stop} ${target}`);
    return fromMs !== undefined && atMs - fromMs > SLACK_MS && unlessMs < fromMs - SLACK_MS;
  };
  const violated = ({ atMs }: Entry, detail: string): void => void found.push({ of: 'I8', atMs, detail });
  // The operator's own restarts, a deployment of the same build and one that returns launch what is admitted as well.
  const only =
    scenario.orders.length === 0 && Object.keys(scenario.shapes).every((one) => isEveryBuildOnce(scenario, one));
  // Good builds that nothing but a stop holds up are never late.
  const held = { spans: ['freezes', 'holds'], strikes: ['frozen', 'held', 'observer-gone'] } as const;
  const unhurried = isCalmBut(scenario, held) && isEveryBuildGood(scenario);
  for (const entry of world.ledger.entries) {
    switch (entry.kind) {
      case 'stop':
        if (entry.engaged) since.set(`${entry.stop} ${entry.target}`, entry.atMs);
        else since.delete(`${entry.stop} ${entry.target}`);
        break;
      case 'durable':
        announced.take(entry);
        break;
      case 'crash':
      case 'reboot':
        crashedMs = entry.atMs;
        disturbedMs = entry.atMs;
        break;
      case 'backed-up':
        copied = { admitted: new Map(admitted), serving: new Map(serving) };
        break;
      // What was admitted since is nobody's knowledge any more.
      case 'restored':
        ({ admitted, serving } = copied);
        break;
      case 'observer':
      case 'clock':
        disturbedMs = entry.atMs;
        break;
      case 'told-restored':
        serving.set(entry.target, entry.row ?? entry.route?.[0] ?? '');
        break;
      case 'told-admitted':
        serving.set(entry.target, entry.row ?? entry.route?.[0] ?? '');
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
        // A return asks a candidate that was never admitted; no freeze gates a restart of what was not seen to live.
        if (
          only &&
          !announced.isBroughtBack(entry.activation) &&
          admitted.get(target) === incarnation &&
          engagedFor('freeze', target, entry.atMs, crashedMs)
        )
          violated(entry, `${entry.activation} was fenced under a freeze`);
        break;
      }
      case 'ended': {
        const process = world.processes.get(entry.activation);
        const { target = '' } = process?.activation ?? {};
        if (
          !only ||
          !entry.asked ||
          announced.isBroughtBack(entry.activation) ||
          serving.get(target) !== entry.activation ||
          process?.state === 'failed'
        )
          break;
        // Once that is written down, the incumbent ends whatever is engaged afterwards.
        const decidedMs = announced.displacesSinceMs(entry.activation) ?? entry.atMs;
        if (engagedFor('freeze', target, decidedMs, crashedMs))
          violated(entry, `${entry.activation} was ended under a freeze`);
        break;
      }
      case 'told-ended':
        if (entry.code === 'phase-deadline' && unhurried && engagedFor('freeze', entry.target, entry.atMs, crashedMs))
          violated(entry, `the clock of ${entry.transaction} ran out under a freeze`);
        break;
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
