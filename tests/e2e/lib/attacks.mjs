// What a hostile program tries before it has any permission: each attempt tells whether it came through. It is put in
// front of a service's own entry, and finds what it attacks in a file beside the fleet.
import { closeSync, openSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const aims = JSON.parse(readFileSync(process.env.AIMS, 'utf8'));

const opened = (path, flags) => closeSync(openSync(path, flags));
const made = (path) => {
  writeFileSync(path, 'planted');
  unlinkSync(path);
};
const reached = (path) =>
  new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket.destroy()));
    socket.once('error', reject);
  });

const attempts = {
  'write the state by SQLite': () => {
    const database = new DatabaseSync(aims.store);
    try {
      database.exec('PRAGMA user_version = 7');
    } finally {
      database.close();
    }
  },
  'name itself in the lease row': () => {
    const database = new DatabaseSync(aims.store);
    try {
      database.exec(`UPDATE idunn_lease SET epoch = epoch WHERE id = 1`);
    } finally {
      database.close();
    }
  },
  'write the bytes of the state': () => opened(aims.store, 'r+'),
  'write the log of the state': () => opened(`${aims.store}-wal`, 'r+'),
  'make a file in the state': () => made(join(aims.root, 'planted')),
  'exchange a file of the state': () => {
    renameSync(`${aims.root}/.idunn-claim.json`, `${aims.root}/moved`);
    renameSync(`${aims.root}/moved`, `${aims.root}/.idunn-claim.json`);
  },
  'read the keys of the incumbent': () => readFileSync(join(aims.incumbent, 'activation.key')),
  'look into the directory of the incumbent': () => readdirSync(aims.incumbent),
  'make a file in the directory of the incumbent': () => made(join(aims.incumbent, 'planted')),
  'reach the channel of the incumbent': () => reached(join(aims.incumbent, 'channel.sock')),
  'read the secret of another target': () => readFileSync(aims.secret),
  'read the keys of another target': () => readFileSync(aims.key),
  'list all activations': () => readdirSync(aims.activations),
  'read its own ticket': () => readFileSync(aims.ticket),
  'signal the incumbent': () => process.kill(aims.pid, 'SIGCONT'),
  'trace the incumbent': () => opened(`/proc/${aims.pid}/mem`, 'r+'),
  'read the environment of the incumbent': () => readFileSync(`/proc/${aims.pid}/environ`),
  'write its release': () => opened(process.argv[1], 'r+'),
  'make a file in its release': () => made(join(process.argv[1], '../planted')),
  'list all releases': () => readdirSync(aims.releases),
  'read the records of the authority': () => readFileSync(aims.records),
  'reach the operator’s socket': () => reached(aims.operator),
  'reach the router’s socket': () => reached(aims.router),
  'reach the attendant’s socket': () => reached(aims.attendant),
  'reach the observer’s link': () => reached(aims.link),
  'rewrite the log of the incumbent': () => opened(aims.log, 'r+'),
};

const through = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    through[name] = true;
  } catch (error) {
    through[name] = String(error.code ?? error);
  }
}
console.log(`attacks ${JSON.stringify(through)}`);
