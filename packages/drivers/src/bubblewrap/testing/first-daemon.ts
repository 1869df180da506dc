import { randomIds, systemClock, systemTimers } from '@idunn/kernel';
import { createBubblewrapRunner } from '../runner.ts';
import { grantOf, STAGE } from './sandbox.ts';

/** A process that runs one step in the given stages and says when it has begun; the test kills it in the middle. */
const [stages = '', script = ''] = process.argv.slice(2);
const runner = createBubblewrapRunner({
  fleet: 'bench',
  stages,
  bubblewrap: '/usr/bin/bwrap',
  uid: process.getuid?.() ?? 0,
  hidden: () => [stages],
  clock: systemClock(),
  timers: systemTimers,
});
const step = {
  id: 'compile',
  stage: 'build',
  profile: 'build',
  argv: ['python3', '-c', script],
  cwd: '.',
  timeoutMs: 600_000,
  outputLimitBytes: 1_000_000,
} as const;
await runner.run(
  { requestId: randomIds.fresh('step'), stage: STAGE, step, grant: grantOf() },
  new AbortController().signal,
  (line) => process.stdout.write(`${line}\n`),
);
