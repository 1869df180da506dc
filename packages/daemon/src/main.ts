import { closeSync, writeSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Outcome,
  ok,
  type Refusal,
  randomIds,
  refusal,
  refused,
  StoreFault,
  systemClock,
  systemTimers,
} from '@idunn/kernel';
import { faultsOf, renderFaults } from '@idunn/release';
import { problemOf } from './api/answer.ts';
import { compose } from './compose.ts';
import { ending } from './ending.ts';
import { fileLog } from './file-log.ts';
import { type Machine, openGround } from './ground.ts';
import { MACHINE } from './machine.ts';

const USAGE = 'usage: main.js --fleet DIRECTORY [--ready-descriptor NUMBER]\n';

const { values } = parseArgs({
  options: { fleet: { type: 'string' }, 'ready-descriptor': { type: 'string' } },
});
if (values.fleet === undefined) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const readyDescriptor = values['ready-descriptor'] === undefined ? null : Number(values['ready-descriptor']);

/** Tells the starter how it went, once; a starter that has gone is nobody's loss. */
function tellStarter(text: string): void {
  if (readyDescriptor === null) return;
  try {
    writeSync(readyDescriptor, text);
    closeSync(readyDescriptor);
  } catch {
    // It has gone.
  }
}

function fail(why: Refusal): never {
  const faults = faultsOf(why);
  process.stderr.write(`${why.code}: ${why.reason}\n`);
  if (faults.length > 0) process.stderr.write(`\n${renderFaults(faults)}\n\n`);
  process.stderr.write(`what to do: ${why.remedy}\n`);
  tellStarter(JSON.stringify(problemOf(why)));
  process.exit(1);
}

// Whatever the umask was: nothing that Idunn or its programs make can be written by others.
process.umask(process.umask(0o077) | 0o022);

// Where it says something for people there may be no room for it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const { username, uid } = userInfo();
const machine: Machine = {
  name: MACHINE,
  account: { root: process.geteuid?.() === 0, home: homedir(), environment: process.env },
  user: { name: username, uid },
  clock: systemClock(),
  timers: systemTimers,
  ids: randomIds,
};

async function serve(directory: string): Promise<Outcome<'serving'>> {
  const ground = await openGround(directory, machine, fileLog);
  if (!ground.ok) return ground;
  const { log, fleet, operatorSocket } = ground.value;
  const daemon = await compose(ground.value);
  if (!daemon.ok) {
    await ground.value.store.close();
    return daemon;
  }
  const end = ending({
    timers: machine.timers,
    stop: () => {
      log.info('stopping; what runs stays up');
      return daemon.value.stop();
    },
    ended: () => {
      log.info('stopped');
      process.exit(0);
    },
    force: (afterMs) => {
      log.fatal({ afterMs }, 'something that the daemon waits for hangs; it ends all the same');
      process.kill(process.pid, 'SIGKILL');
    },
  });
  process.on('SIGTERM', end).on('SIGINT', end);
  process.on('SIGHUP', () => undefined);
  process.on('uncaughtException', (error) => {
    // A fault of our own: the records say where everything stands, the next daemon goes on from there (I6).
    log.fatal({ err: error }, 'the daemon met a fault and ends');
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exit(70);
  });
  const started = await daemon.value.start();
  if (!started.ok) {
    await daemon.value.stop();
    return started;
  }
  log.info({ fleet: fleet.last.fleet.id, socket: operatorSocket }, 'serving');
  if (readyDescriptor === null) process.stdout.write(`serving ${fleet.last.fleet.id} on ${operatorSocket}\n`);
  tellStarter('ready');
  return ok('serving');
}

/**
 * Records that cannot be read (F28), and files that the system does not let us use, are a refusal to begin, loud and
 * with a code; other faults are ours and show their trace.
 */
function groundRefusal(error: unknown): Outcome<never> {
  if (error instanceof StoreFault) return refused(refusal(error.code, error.message));
  if (error instanceof Error && 'syscall' in error) return refused(refusal('files-unusable', error.message));
  throw error;
}

const served = await serve(resolve(values.fleet)).catch(groundRefusal);
if (!served.ok) fail(served.refusal);
