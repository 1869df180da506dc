/** A file that may do what a ban forbids, and why: it is the adapter at the edge that does it for all others. */
export interface Exception {
  readonly path: string;
  readonly rule: string;
  readonly because: string;
}

const kernel = 'packages/kernel/src';
const workload = 'packages/workload/src';
const drivers = 'packages/drivers/src';

export const EXCEPTIONS: readonly Exception[] = [
  { path: `${kernel}/system/clock.ts`, rule: 'wall-clock', because: 'is the machine’s clock' },
  { path: `${kernel}/system/timers.ts`, rule: 'timers', because: 'is the event loop’s timers' },
  { path: `${kernel}/crypto/key-file.ts`, rule: 'write', because: 'keeps key files' },
  { path: `${kernel}/store/sqlite/files.ts`, rule: 'write', because: 'gives the store’s files their names and modes' },
  { path: `${workload}/edge/machine.ts`, rule: 'wall-clock', because: 'is the monotonic clock of a managed program' },
  { path: `${workload}/edge/machine.ts`, rule: 'timers', because: 'is the timers of a managed program' },
  { path: `${workload}/edge/program.ts`, rule: 'environment', because: 'is the environment of a managed program' },
  { path: `${drivers}/process/control-group.ts`, rule: 'write', because: 'makes, fills and removes control groups' },
  { path: `${drivers}/process/death-pipe.ts`, rule: 'write', because: 'opens the fifo that tells a death' },
  { path: `${drivers}/process/files.ts`, rule: 'write', because: 'keeps the files of activation directories' },
  { path: `${drivers}/process/launch.ts`, rule: 'write', because: 'opens the log that a program appends to' },
  { path: `${drivers}/process/log-file.ts`, rule: 'write', because: 'rotates logs' },
  {
    path: `${drivers}/process/log-keeper.ts`,
    rule: 'write',
    because: 'takes secrets out of the logs of ended programs',
  },
  { path: `${drivers}/sqlite-lease/claim-file.ts`, rule: 'write', because: 'keeps the owner claim beside a state' },
  { path: `${drivers}/sqlite-lease/store-connection.ts`, rule: 'write', because: 'opens stores' },
  {
    path: `${drivers}/sqlite-lease/store-file.ts`,
    rule: 'write',
    because: 'creates stores for the owner of their root',
  },
];
