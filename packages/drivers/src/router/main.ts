import { closeSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Outcome, ok, type Refusal, systemClock, systemTimers } from '@idunn/kernel';
import { PROTOCOL } from './control/protocol.ts';
import { listenForControl } from './control/server.ts';
import { fileLog, type Log } from './log.ts';
import { Router } from './router.ts';
import { takeLock } from './state/lock.ts';

/** The descriptor on which the starter waits for one line: `{"ready":…}` or `{"refused":…}`. */
const READY_FD = 3;

const { values } = parseArgs({
  options: {
    fleet: { type: 'string' },
    control: { type: 'string' },
    state: { type: 'string' },
    log: { type: 'string' },
    'log-bytes': { type: 'string', default: '4194304' },
    build: { type: 'string', default: 'unknown' },
    /** Say on descriptor 3 when it serves. */
    notify: { type: 'boolean', default: false },
  },
});

function required(name: 'fleet' | 'control' | 'state' | 'log'): string {
  const value = values[name];
  if (value !== undefined) return value;
  process.stderr.write(`idunn-router: --${name} is missing\n`);
  process.exit(2);
}

const options = {
  fleet: required('fleet'),
  control: required('control'),
  state: required('state'),
  log: required('log'),
  logBytes: Number(values['log-bytes']),
  build: values.build,
};

function say(message: object): void {
  if (!values.notify) return;
  try {
    writeSync(READY_FD, `${JSON.stringify(message)}\n`);
    closeSync(READY_FD);
  } catch {
    // The starter has gone; the router goes on.
  }
}

async function run(log: Log): Promise<Outcome<'serving'>> {
  const lock = takeLock(options.state);
  if (!lock.ok) return lock;
  const clock = systemClock();
  const { fleet, state: stateFile } = options;
  const opened = await Router.open({ fleet, stateFile, clock, timers: systemTimers, log });
  if (!opened.ok) return opened;
  const router = opened.value;
  const hello = { program: 'idunn-router', protocol: PROTOCOL, fleet, pid: process.pid, build: options.build } as const;
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    log.write('stopping');
    control.close();
    void router.close().then(() => {
      lock.value.close();
      log.write('stopped');
      process.exit(0);
    });
  };
  const control = await listenForControl(options.control, { router, hello, stop }, log, systemTimers);
  process
    .on('SIGTERM', stop)
    .on('SIGINT', stop)
    .on('SIGHUP', () => void router.reloadCertificates());
  log.write('serving', { pid: process.pid, fleet, routes: router.metrics().routes.length });
  say({ ready: hello });
  return ok('serving');
}

/** Loud: on standard error, in the log and to the starter; the exit code is `EX_CONFIG`. */
function fail(log: Log, refusal: Refusal): never {
  log.write(refusal.code, { reason: refusal.reason });
  process.stderr.write(`idunn-router: ${refusal.code}: ${refusal.reason} ${refusal.remedy}\n`);
  say({ refused: refusal });
  process.exit(78);
}

const log = fileLog(options.log, options.logBytes, systemClock());
process.on('uncaughtException', (error) => {
  log.write('fault', { error: error.stack ?? error.message });
  process.stderr.write(`idunn-router: ${error.stack ?? error.message}\n`);
  process.exit(70);
});
const outcome = await run(log);
if (!outcome.ok) fail(log, outcome.refusal);
