// Takes a fresh clone to a running service, on a machine with only Git, Node 20 or newer and npm.
// Everything it makes is under .quickstart/, but for what could not work there and is named when it is made elsewhere;
// running it again is harmless; --stop ends all that it started.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { almanacRepository, findPython } from './lib/almanac-source.mjs';
import { endFleet } from './lib/end-fleet.mjs';
import { freePorts, writeAlmanac, writeFleet } from './lib/fleet-files.mjs';
import { ghostlightRepository } from './lib/ghostlight-source.mjs';
import { installDependencies, OWN_NODE, requireTools } from './lib/preparation.mjs';
import { ROOT } from './lib/root.mjs';

const root = resolve(ROOT);
const work = join(root, '.quickstart');
const fleet = join(work, 'fleet');
const hash = createHash('sha256').update(root).digest('hex');
const uid = userInfo().uid;
/** For what cannot be in .quickstart/. */
const elsewhere = `/var/tmp/idunn-${uid}-${hash.slice(0, 8)}`;

/** A Unix socket's path has 107 bytes; the longest below the runtime directory takes 36 of them. */
const LONGEST_RUNTIME_BYTES = 71;
const near = join(work, 'run');
const runtime = Buffer.byteLength(near) <= LONGEST_RUNTIME_BYTES ? near : join(elsewhere, 'run');
/** For root another user reads repositories, who has to get to them. */
const read = uid !== 0 || isOpenToAll(root) ? work : elsewhere;

const isWhole = runtime === near && read === work;

function isOpenToAll(directory) {
  const open = (statSync(directory).mode & 0o001) !== 0;
  return open && (directory === dirname(directory) || isOpenToAll(dirname(directory)));
}

/** Anybody may make names there: what is there already has to be our own. */
function makeElsewhere() {
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  const status = lstatSync(elsewhere);
  if (!status.isDirectory() || status.uid !== uid) throw new Error(`${elsewhere} belongs to somebody else.`);
}

/** The repository's own Node comes first, for the programs and for what they start. */
const environment = { ...process.env, PATH: `${dirname(OWN_NODE)}${delimiter}${process.env.PATH}` };

function run(what, program, words) {
  const { status, error } = spawnSync(program, words, { cwd: root, env: environment, stdio: 'inherit' });
  if (error !== undefined) throw new Error(`${what}: ${error.message}`);
  return status ?? 1;
}

const idunn = (...words) =>
  run('idunn', OWN_NODE, [join(root, 'packages/cli/bin/idunn.mjs'), '--fleet', fleet, ...words]);

/** As people would type it from here. */
const place = (path) => (read === work ? relative(root, path) : path);

const repositoryOf = (name) => join(read, 'repos', name);

const step = (text) => console.log(`\n── ${text}`);

async function start() {
  step('tools and dependencies');
  requireTools();
  installDependencies();
  step('building Idunn');
  if (run('tsc', join(root, 'node_modules/.bin/tsc'), ['-b']) !== 0) throw new Error('Idunn could not be built.');
  step('a fleet with one service, ghostlight');
  // What git reads as another user, that user has to be able to read.
  if (uid === 0) process.umask(0o022);
  if (!isWhole) makeElsewhere();
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  if (runtime !== near) console.log(`sockets are in ${runtime}: the path of ${work} is too long`);
  if (read !== work)
    console.log(`repositories are in ${read}: git does not run as root, and ${root} is closed to others`);
  const repository = repositoryOf('ghostlight');
  const commit = ghostlightRepository(repository);
  const ports = await freePorts(Number.parseInt(hash.slice(0, 6), 16));
  const id = `quickstart-${hash.slice(0, 6)}`;
  const cache = join(read, 'cache');
  writeFleet({ fleet, id, work, runtime, cache, repository, minimumRevision: commit, ports });
  step('the daemon');
  if (idunn('daemon', '--detach') !== 0) throw new Error('The daemon did not come up.');
  step('idunn up ghostlight');
  const outcome = idunn('up', 'ghostlight');
  if (outcome !== 0) process.exit(outcome);
  const almanac = startAlmanac(ports.to);
  console.log(`
Ghostlight is up. Look at its world:  ${urlOf('ghostlight')}
${almanac}

Try next, from this directory:
  npx idunn status                  what is expected, present and ready
  npx idunn history ghostlight      what happened, and who asked for it
  npx idunn up ghostlight           again: nothing to do. Change a file in
                                    ${place(repository)}, commit it, and deploy under load

Everything is in .quickstart/${isWhole ? '' : ` and ${elsewhere}`}; npm run quickstart -- --stop ends it.`);
}

/** The example that knows nothing of Idunn. Answers the line that says how it went. */
function startAlmanac(port) {
  step('idunn up almanac');
  const python = findPython();
  if (python === null) {
    console.log('skipped: almanac is written in Python, and there is no Python 3.9 or newer here');
    return 'Almanac, the example that knows nothing of Idunn, was skipped: it needs Python 3.';
  }
  const repository = repositoryOf('almanac');
  const commit = almanacRepository(repository);
  writeAlmanac({ fleet, work, repository, minimumRevision: commit, python, port });
  const outcome = idunn('up', 'almanac');
  if (outcome !== 0) process.exit(outcome);
  return `Almanac, which knows nothing of Idunn:  ${urlOf('almanac')}entries`;
}

/** The stable route, as the binding names it: it was picked once and is kept. */
function urlOf(target) {
  const binding = readFileSync(join(fleet, `bindings/${target}.toml`), 'utf8');
  const [, host, port] = /^listen = \{ host = "([^"]+)", port = (\d+) \}/m.exec(binding) ?? [];
  return `http://${host}:${port}/`;
}

async function stop() {
  const ended = await endFleet({ fleet, runtime });
  for (const { what, pid, forced } of ended) console.log(`ended ${what} ${pid}${forced ? ' by force' : ''}`);
  if (ended.length === 0) console.log('nothing of the quickstart was running');
}

try {
  const [word, ...more] = process.argv.slice(2);
  if (word === undefined) await start();
  else if (word === '--stop' && more.length === 0) await stop();
  else if (word === '--help')
    console.log(
      'npm run quickstart           build, start and deploy\nnpm run quickstart -- --stop end all that it started',
    );
  else throw new Error(`unknown: ${[word, ...more].join(' ')}; the quickstart takes nothing, --stop or --help`);
} catch (error) {
  console.error(`\nquickstart: ${error.message}`);
  process.exitCode = 1;
}
