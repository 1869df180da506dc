/** A file that may do what a ban forbids, and why: it is the adapter at the edge that does it for all others. */
export interface Exception {
  readonly path: string;
  readonly rule: string;
  readonly because: string;
}

const attendant = 'packages/attendant/src';
const authority = 'packages/authority/src';
const kernel = 'packages/kernel/src';
const cli = 'packages/cli/src';
const client = 'packages/client/src';
const daemon = 'packages/daemon/src';
const ladder = 'packages/ladder/src';
const observer = 'packages/observer/src';
const release = 'packages/release/src';
const workload = 'packages/workload/src';
const drivers = 'packages/drivers/src';

export const EXCEPTIONS: readonly Exception[] = [
  { path: `${release}/adapters/artifact-files.ts`, rule: 'write', because: 'copies the files of artifacts' },
  { path: `${release}/carry/shelf.ts`, rule: 'write', because: 'keeps builds that go from fleet to fleet' },
  { path: `${kernel}/system/clock.ts`, rule: 'wall-clock', because: 'is the machine’s clock' },
  { path: `${kernel}/system/timers.ts`, rule: 'timers', because: 'is the event loop’s timers' },
  { path: `${kernel}/crypto/key-file.ts`, rule: 'write', because: 'keeps key files' },
  {
    path: `${kernel}/system/private-socket.ts`,
    rule: 'write',
    because: 'gives private sockets their mode, and removes dead ones',
  },
  { path: `${kernel}/system/replace-file.ts`, rule: 'write', because: 'replaces files atomically' },
  { path: `${kernel}/store/sqlite/files.ts`, rule: 'write', because: 'gives the store’s files their names and modes' },
  { path: `${attendant}/rehearser.ts`, rule: 'write', because: 'writes what came of a rehearsal' },
  { path: `${attendant}/main.ts`, rule: 'write', because: 'says its last words before it ends' },
  { path: `${workload}/edge/machine.ts`, rule: 'wall-clock', because: 'is the monotonic clock of a managed program' },
  { path: `${workload}/edge/machine.ts`, rule: 'timers', because: 'is the timers of a managed program' },
  { path: `${workload}/edge/program.ts`, rule: 'environment', because: 'is the environment of a managed program' },
  { path: `${drivers}/process/control-group.ts`, rule: 'write', because: 'makes, fills and removes control groups' },
  { path: `${drivers}/process/death-pipe.ts`, rule: 'write', because: 'opens the fifo that tells a death' },
  { path: `${drivers}/process/files.ts`, rule: 'write', because: 'keeps the files of activation directories' },
  {
    path: `${drivers}/process/digest-book.ts`,
    rule: 'write',
    because: 'keeps digests of files for the next daemon',
  },
  {
    path: `${drivers}/process/gate/launcher.ts`,
    rule: 'write',
    because: 'records the grant that it took before it becomes the program',
  },
  {
    path: `${drivers}/process/rehearsal/copy-database.ts`,
    rule: 'write',
    because: 'copies databases for rehearsals',
  },
  { path: `${drivers}/process/rehearsal/copy-state.ts`, rule: 'write', because: 'copies states for rehearsals' },
  { path: `${drivers}/process/rehearsal/copy-tree.ts`, rule: 'write', because: 'copies files for rehearsals' },
  { path: `${drivers}/process/rehearsal/copier.ts`, rule: 'write', because: 'answers before it ends itself' },
  { path: `${drivers}/process/rehearsal/place.ts`, rule: 'write', because: 'makes the places of rehearsals' },
  { path: `${drivers}/process/rehearsal/place.ts`, rule: 'recursive-delete', because: 'removes what rehearsals made' },
  { path: `${drivers}/process/launch.ts`, rule: 'write', because: 'opens the log that a program appends to' },
  { path: `${drivers}/process/log-file.ts`, rule: 'write', because: 'rotates logs' },
  {
    path: `${drivers}/process/user/door.ts`,
    rule: 'write',
    because: 'gives states to their users, and takes them back',
  },
  { path: `${drivers}/process/user/give.ts`, rule: 'write', because: 'gives activation directories to their users' },
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
  { path: `${cli}/edge/daemon-process.ts`, rule: 'write', because: 'opens the log of the daemon that it starts' },
  { path: `${cli}/ladder/scratch.ts`, rule: 'write', because: 'makes the directory of a copy under way' },
  { path: `${cli}/edge/environment.ts`, rule: 'environment', because: 'is the environment of the command' },
  { path: `${cli}/edge/environment.ts`, rule: 'timers', because: 'is the timers of the command' },
  { path: `${cli}/edge/environment.ts`, rule: 'wall-clock', because: 'is the clock of the command' },
  { path: `${cli}/edge/write-once.ts`, rule: 'write', because: 'writes the files that idunn init proposes' },
  {
    path: `${client}/transport/pause.ts`,
    rule: 'timers',
    because: 'is the wait between two attempts to reach the daemon',
  },
  {
    path: `${daemon}/check-files.ts`,
    rule: 'environment',
    because: 'is the program that checks files before there is a daemon',
  },
  { path: `${authority}/stops/write.ts`, rule: 'write', because: 'writes the records of freezes and holds' },
  { path: `${daemon}/ground.ts`, rule: 'write', because: 'makes the directories of the fleet' },
  { path: `${daemon}/keys/keyring.ts`, rule: 'write', because: 'makes the directory of the keys' },
  { path: `${daemon}/main.ts`, rule: 'environment', because: 'is the program of the daemon' },
  { path: `${daemon}/main.ts`, rule: 'write', because: 'says its last words before it ends' },
  { path: `${daemon}/observer/installed-program.ts`, rule: 'write', because: 'installs the bytes of the observer' },
  {
    path: `${daemon}/observer/installed-program.ts`,
    rule: 'recursive-delete',
    because: 'removes its own drafts, and replaced and unfinished copies',
  },
  {
    path: `${daemon}/sockets.ts`,
    rule: 'write',
    because: 'gives the daemon’s sockets their mode, and removes dead ones',
  },
  { path: `${drivers}/git/checkout.ts`, rule: 'write', because: 'copies a tree into a stage' },
  { path: `${drivers}/git/cache.ts`, rule: 'write', because: 'makes the directories of fetched objects' },
  {
    path: `${drivers}/router/control/server.ts`,
    rule: 'write',
    because: 'gives the control socket its mode, and removes a dead one',
  },
  { path: `${drivers}/helper/start.ts`, rule: 'write', because: 'opens the log of the helper that it starts' },
  { path: `${drivers}/router/log.ts`, rule: 'write', because: 'keeps the router’s log' },
  { path: `${drivers}/router/main.ts`, rule: 'write', because: 'says its last words before it ends' },
  { path: `${drivers}/router/state/keeper.ts`, rule: 'write', because: 'keeps the router’s lock' },
  { path: `${drivers}/bubblewrap/egress/socket.ts`, rule: 'write', because: 'keeps the socket of a way out' },
  { path: `${drivers}/bubblewrap/init-process.ts`, rule: 'write', because: 'records who a running sandbox is' },
  { path: `${drivers}/bubblewrap/ownership.ts`, rule: 'write', because: 'gives a stage to the user of its steps' },
  { path: `${drivers}/runner/descriptors.ts`, rule: 'write', because: 'opens /dev/null' },
  { path: `${drivers}/runner/output.ts`, rule: 'write', because: 'keeps the output of steps' },
  { path: `${ladder}/audit/file-trail.ts`, rule: 'write', because: 'appends to the audit log' },
  { path: `${ladder}/bundle/files.ts`, rule: 'write', because: 'writes bundles and what is unsealed' },
  { path: `${ladder}/data/sqlite-database.ts`, rule: 'write', because: 'removes its own unfinished copies' },
  { path: `${ladder}/data/tree.ts`, rule: 'write', because: 'copies and exchanges trees of data' },
  {
    path: `${ladder}/bundle/files.ts`,
    rule: 'recursive-delete',
    because: 'removes its own drafts, and replaced and unfinished copies',
  },
  { path: `${observer}/edge/directories.ts`, rule: 'write', because: 'makes the observer’s directories' },
  { path: `${observer}/edge/sqlite-trails.ts`, rule: 'write', because: 'keeps the trails beside the observer’s store' },
  { path: `${observer}/main.ts`, rule: 'environment', because: 'is the program of the observer' },
  { path: `${release}/adapters/files.ts`, rule: 'write', because: 'writes durably and removes trees' },
  { path: `${release}/adapters/https-inputs.ts`, rule: 'write', because: 'keeps fetched inputs' },
  { path: `${release}/adapters/installed-source.ts`, rule: 'write', because: 'copies installed bytes into a stage' },
  { path: `${release}/adapters/release-store.ts`, rule: 'write', because: 'installs sealed releases' },
  { path: `${release}/adapters/stages.ts`, rule: 'write', because: 'makes and removes stages' },
];
