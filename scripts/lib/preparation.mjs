import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.mjs';
import { DEBIAN_PACKAGES } from './suites.mjs';

/** The repository's own Node, whatever the machine has. */
export const OWN_NODE = join(ROOT, 'node_modules/.bin/node');

/** Throws with one sentence and a remedy when the machine lacks what nothing here can bring. */
export function requireTools() {
  const [major] = process.versions.node.split('.');
  if (Number(major) < 20) throw new Error(`Node ${process.versions.node} is too old; install Node 20 or newer.`);
  for (const program of ['npm', 'git']) {
    const version = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (version.status !== 0) throw new Error(`${program} is missing; install it and run npm run verify again.`);
    console.log(`${program} ${version.stdout.trim().replace(/^git version /, '')}`);
  }
}

/** Installs the dependencies that the lock names, unless they are there. */
export function installDependencies() {
  if (!isInstalled()) {
    console.log('installing dependencies');
    if (
      !runs('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']) &&
      !runs('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'])
    ) {
      throw new Error('The dependencies could not be installed; look at the lines above and run npm ci by hand.');
    }
  }
  if (!existsSync(OWN_NODE)) throw new Error('The repository’s own Node is missing; run npm install.');
}

/** Installs missing Debian packages as root, else says which are missing. */
export function installDebianPackages() {
  const missing = DEBIAN_PACKAGES.filter(({ program }) => spawnSync(program, ['--version']).error !== undefined);
  if (missing.length === 0) return;
  const names = missing.map((one) => one.package);
  if (process.geteuid?.() !== 0)
    throw new Error(`Missing Debian packages; run: sudo apt-get install ${names.join(' ')}`);
  console.log(`installing ${names.join(', ')}`);
  runs('apt-get', ['update']);
  if (!runs('apt-get', ['install', '--yes', '--no-install-recommends', ...names])) {
    throw new Error(`The Debian packages ${names.join(', ')} could not be installed.`);
  }
}

const runs = (program, args) => spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' }).status === 0;

/** True when npm's own note of what it installed has every package of the lock that this machine needs. */
function isInstalled() {
  const note = packagesOf('node_modules/.package-lock.json');
  const lock = packagesOf('package-lock.json');
  if (note === null || lock === null) return false;
  return Object.entries(lock)
    .filter(([path, entry]) => path !== '' && entry.optional !== true && entry.peer !== true)
    .every(([path, entry]) => path.startsWith('packages/') || note[path]?.version === entry.version);
}

function packagesOf(file) {
  const path = join(ROOT, file);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : null;
}
