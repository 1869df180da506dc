import { join } from 'node:path';
import { randomIds, systemClock, systemTimers } from '@idunn/kernel';
import { createRouterDriver } from '../driver/driver.ts';

/** A daemon in small: brings the router of the directory up, says its pid, and lives on until it is killed. */
const [directory = ''] = process.argv.slice(2);
const driver = createRouterDriver({
  fleet: 'test-fleet',
  controlSocket: join(directory, 'run', 'router.sock'),
  stateFile: join(directory, 'state', 'router.json'),
  logFile: join(directory, 'log', 'router.log'),
  build: 'sha256:installed',
  redact: (_, text) => Promise.resolve(text.replaceAll('hunter2', '[secret]')),
  clock: systemClock(),
  timers: systemTimers,
  ids: randomIds,
});
const ensured = await driver.ensure();
process.stdout.write(`${ensured.ok ? ensured.value.pid : ensured.refusal.reason}\n`);
