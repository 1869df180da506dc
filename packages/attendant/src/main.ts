import { closeSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { holdLock, type Outcome, ok, type Refusal, refusal, refused, systemClock, systemTimers } from '@idunn/kernel';
import { realMachine } from '@idunn/workload/attending';
import { Attendant } from './attendant.ts';
import { listenForControl } from './control/server.ts';
import { LIMITS } from './limits.ts';

/** The descriptor on which the starter waits for one line: `{"ready":…}` or `{"refused":…}`. */
const READY_FD = 3;
/** `EX_CONFIG` and `EX_SOFTWARE`. */
const EXIT = { refused: 78, fault: 70 } as const;

const { values } = parseArgs({
  options: {
    fleet: { type: 'string' },
    control: { type: 'string' },
    state: { type: 'string' },
    build: { type: 'string', default: 'unknown' },
    /** Say on descriptor 3 when it serves. */
    notify: { type: 'boolean', default: false },
  },
});

function required(name: 'fleet' | 'control' | 'state'): string {
  const value = values[name];
  if (value !== undefined) return value;
  process.stderr.write(`idunn-attendant: --${name} is missing\n`);
  process.exit(2);
}

const options = { fleet: required('fleet'), control: required('control'), state: required('state') };
const clock = systemClock();

for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

let logged = 0;

function log(line: string): void {
  if (logged > LIMITS.logLines) return;
  logged += 1;
  const text = logged > LIMITS.logLines ? 'the log is full until the next start' : line;
  process.stderr.write(`${new Date(clock.wallMs()).toISOString()} ${text}\n`);
}

function say(message: object): void {
  if (!values.notify) return;
  try {
    writeSync(READY_FD, `${JSON.stringify(message)}\n`);
    closeSync(READY_FD);
  } catch {
    // The starter has gone; the attendant goes on.
  }
}

async function run(): Promise<Outcome<'serving'>> {
  const path = `${options.state}.lock`;
  const lock = holdLock(path);
  if (lock.kind === 'elsewhere') {
    return refused(refusal('attendant-already-running', `Another attendant holds ${path}.`));
  }
  if (lock.kind === 'failed') {
    return refused(refusal('attendant-file-not-written', `The lock ${path} cannot be taken: ${lock.because}.`));
  }
  const { fleet, state: stateFile } = options;
  const opened = await Attendant.open({ fleet, bootId: clock.bootId, stateFile, machine: realMachine, log });
  if (!opened.ok) return opened;
  const attendant = opened.value;
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    void attendant.close().then(() => {
      lock.release();
      process.exit(0);
    });
  };
  await listenForControl(options.control, {
    attendant,
    fleet,
    build: values.build,
    timers: systemTimers,
    stop,
    log,
  });
  process
    .on('SIGTERM', stop)
    .on('SIGINT', stop)
    .on('SIGHUP', () => undefined);
  say({ ready: { pid: process.pid } });
  return ok('serving');
}

/** Loud: on standard error and to the starter. */
function fail({ code, reason, remedy }: Refusal): never {
  process.stderr.write(`idunn-attendant: ${code}: ${reason} ${remedy}\n`);
  say({ refused: { code, reason, remedy } });
  process.exit(EXIT.refused);
}

process.on('uncaughtException', (error) => {
  process.stderr.write(`idunn-attendant: ${error.stack ?? error.message}\n`);
  process.exit(EXIT.fault);
});
const outcome = await run();
if (!outcome.ok) fail(outcome.refusal);
