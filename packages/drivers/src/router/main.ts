import { closeSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Outcome, ok, type Refusal, refusal, refused, systemClock, systemTimers } from '@idunn/kernel';
import { type Ask, PROTOCOL } from './control/protocol.ts';
import { listenForControl } from './control/server.ts';
import { fileLog, type Log } from './log.ts';
import { Router } from './router.ts';
import { takeLock, takeLockAgain } from './state/lock.ts';
import { Gate } from './succession/gate.ts';
import { inherit, NOTHING_INHERITED } from './succession/inheritance.ts';
import { handOver } from './succession/predecessor.ts';

/** The descriptor on which the starter waits for one line: `{"ready":…}` or `{"refused":…}`. */
const READY_FD = 3;

// Whatever the umask was: nothing that it makes can be written by others, sockets included.
process.umask(process.umask(0o077) | 0o022);

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
    /** Take over from the router that started this one, over the channel to it. */
    succeed: { type: 'boolean', default: false },
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

/** What a successor is started with too. */
const own = ['fleet', 'control', 'state', 'log', 'log-bytes'].flatMap((name) => [
  `--${name}`,
  String(values[name as keyof typeof values]),
]);

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
  const inherited = values.succeed ? await inherit() : null;
  const taken = takeLock(options.state);
  if (!taken.ok) return taken;
  let lock = taken.value;
  const clock = systemClock();
  const { fleet, state: stateFile } = options;
  const inheritance = inherited ?? NOTHING_INHERITED;
  const opened = await Router.open({ fleet, stateFile, clock, timers: systemTimers, log, inheritance });
  if (!opened.ok) return opened;
  const router = opened.value;
  const hello = { program: 'idunn-router', protocol: PROTOCOL, fleet, pid: process.pid, build: options.build } as const;
  const gate = new Gate();
  let state: 'serving' | 'succeeding' | 'stopping' = 'serving';
  const end = (keeps: 'write' | 'leave'): void => {
    log.write('stopping');
    control.close();
    if (keeps === 'leave') control.end();
    void router.close(keeps).then(() => {
      if (keeps === 'write') lock.close();
      log.write('stopped');
      process.exit(0);
    });
  };
  const stop = (): void => {
    if (state !== 'serving') return;
    state = 'stopping';
    end('write');
  };
  const succeed = async ({ program, build }: Ask<'succeed'>): Promise<Outcome<'succeeded'>> => {
    if (state !== 'serving') return refused(refusal('router-busy', 'The router is being replaced or stopped already.'));
    state = 'succeeding';
    const argv = [...program, ...own, '--build', build, '--notify', '--succeed'] as const;
    const handed = await handOver(
      {
        argv: [program[0], ...argv.slice(1)],
        logFile: options.log,
        busy: () => router.busy(),
        listener: (address) => router.socketOf(address),
        async letGo() {
          await gate.close();
          control.close();
          lock.close();
        },
        async takeBack() {
          const again = await takeLockAgain(options.state, systemTimers);
          if (!again.ok) return 'superseded';
          lock = again.value;
          control = await listenForControl(options.control, context, log, systemTimers);
          return 'taken';
        },
      },
      systemTimers,
    );
    if (handed.ok) {
      log.write(handed.value);
      end('leave');
      return ok('succeeded');
    }
    log.write(handed.refusal.code, { reason: handed.refusal.reason });
    state = 'serving';
    gate.open();
    return handed;
  };
  const context = { router, hello, stop, gate, succeed };
  let control = await listenForControl(options.control, context, log, systemTimers);
  process
    .on('SIGTERM', stop)
    .on('SIGINT', stop)
    .on('SIGHUP', () => void router.reloadCertificates());
  log.write('serving', { pid: process.pid, fleet, routes: router.metrics().routes.length });
  say({ ready: hello });
  inherited?.close();
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
