import { parseArgs } from 'node:util';
import { randomIds, systemClock, systemTimers } from '@idunn/kernel';
import { type Program, startProgram } from './program.ts';

/**
 * The observer's command line: `main.js --store DIRECTORY --sockets DIRECTORY`, in an activation directory of Idunn.
 */
const USAGE = 'usage: main.js --store DIRECTORY --sockets DIRECTORY, with IDUNN_ACTIVATION_DIRECTORY set';

const clock = systemClock();

/** Most bytes of log that wait for their reader; beyond it lines are dropped, for a log must not end a program. */
const MAX_LOG_BACKLOG_BYTES = 65_536;

for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

function log(text: string): void {
  if (process.stdout.writableLength > MAX_LOG_BACKLOG_BYTES) return;
  process.stdout.write(`${new Date(clock.wallMs()).toISOString()} ${text}\n`);
}

function end(because: string, exitCode: number): never {
  process.stderr.write(`${because}\n`);
  process.exit(exitCode);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function options(): { activationDirectory: string; storeDirectory: string; socketDirectory: string } {
  try {
    const { values } = parseArgs({ options: { store: { type: 'string' }, sockets: { type: 'string' } } });
    const activationDirectory = process.env['IDUNN_ACTIVATION_DIRECTORY'];
    const { store: storeDirectory, sockets: socketDirectory } = values;
    if (activationDirectory && storeDirectory && socketDirectory) {
      return { activationDirectory, storeDirectory, socketDirectory };
    }
  } catch (error) {
    end(`${messageOf(error)}; ${USAGE}`, 2);
  }
  end(USAGE, 2);
}

let program: Program | null = null;
try {
  program = await startProgram({
    ...options(),
    pid: process.pid,
    clock,
    timers: systemTimers,
    ids: randomIds,
    yieldTo: setImmediate,
    log,
    fail: (cause) => end(`the observer ends: ${messageOf(cause)}`, 1),
  });
} catch (error) {
  end(`the observer did not start: ${messageOf(error)}`, 1);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void program.close().then(
      () => process.exit(0),
      (error: unknown) => end(`the observer did not end in order: ${messageOf(error)}`, 1),
    );
  });
}
