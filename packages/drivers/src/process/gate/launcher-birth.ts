import { fileURLToPath } from 'node:url';
import type { LaunchRequest } from '@idunn/authority';
import { digestJson, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { leaseFileOf } from '../../sqlite-lease/lease-carriers.ts';
import type { ActivationFiles } from '../activation-directory.ts';
import { placePrivate } from '../files.ts';
import type { LaunchWords } from '../launch-words.ts';
import type { Ticket } from '../ticket.ts';
import type { RunsAs } from '../user/words.ts';
import type { GateOrders } from './orders.ts';

/** The launcher's file: source or built, as this one is. */
const launcherFile = import.meta.url.endsWith('.ts') ? './launcher.ts' : './launcher.js';
const LAUNCHER = fileURLToPath(new URL(launcherFile, import.meta.url));

/** A launcher is a small Node program, and stands under its program's limits. */
const LEAST = { memoryBytes: 100_663_296, processes: 10 } as const;

/** A launcher that is ready to be started, and what a ticket keeps of it. */
export interface LauncherBirth {
  readonly words: LaunchWords;
  readonly gate: NonNullable<Ticket['gate']>;
}

/**
 * Writes a launcher's orders. `wrapper` holds the program's limits, and holds them from the gate on only: they are
 * measured for the program. The launcher runs where the program will, and the activation's id in its environment is all
 * that the two have in common there.
 */
export async function orderLauncher(
  request: LaunchRequest,
  words: LaunchWords,
  wrapper: readonly string[],
  files: ActivationFiles,
  runs: RunsAs | null,
): Promise<Outcome<LauncherBirth>> {
  const { memoryBytes, processes } = request.launch.limits;
  if ((memoryBytes ?? LEAST.memoryBytes) < LEAST.memoryBytes) return tooLittle('memoryBytes', LEAST.memoryBytes);
  if ((processes ?? LEAST.processes) < LEAST.processes) return tooLittle('processes', LEAST.processes);
  if (request.state?.lease !== 'file') throw new TypeError('a gated start has its lease in a file');
  const [program = words.argv[0], ...args] = [...wrapper, ...words.argv];
  const orders: GateOrders = {
    schema: 'idunn.gate-orders/v1',
    activation: request.activation.activation,
    stateId: request.state.stateId,
    socket: files.gate,
    opened: files.opened,
    lease: leaseFileOf(request.state),
    argv: [program, ...args],
    environment: words.environment,
  };
  await placePrivate(files.orders, `${JSON.stringify(orders)}\n`, runs ?? undefined);
  const argv = [process.execPath, '--no-warnings', '--v8-pool-size=0', LAUNCHER, files.orders] as const;
  const environment = { IDUNN_ACTIVATION: orders.activation, IDUNN_ACTIVATION_DIRECTORY: files.directory };
  return ok({
    words: { argv, environment, entry: LAUNCHER, cwd: words.cwd },
    gate: {
      launcher: { argv: digestJson(argv), entry: LAUNCHER },
      passing: wrapper.length === 0 ? null : digestJson(orders.argv),
    },
  });
}

const tooLittle = (limit: keyof typeof LEAST, least: number): Outcome<never> =>
  refused(
    refusal('limit-not-enforceable', `The limit ${limit} is below ${least}: the launcher of a gated start needs it.`),
  );
