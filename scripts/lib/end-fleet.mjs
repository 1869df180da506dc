import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_AGAIN_MS = 25;

/**
 * Ends everything that a fleet runs: the daemon, then the programs that it launched, then router and attendant. Each is
 * known by what only it carries (the fleet's directory or runtime directory in its words or environment) and is looked
 * at again, start time included, right before every signal: a recycled process id is never hit.
 *
 * @param {{ fleet: string, runtime: string, graceMs?: number }} options absolute paths
 * @returns {Promise<{ what: string, pid: number, forced: boolean }[]>} what was ended
 */
export async function endFleet({ fleet, runtime, graceMs = 10_000 }) {
  const ended = [];
  for (const what of ['daemon', 'workload', 'router', 'attendant']) {
    const found = fleetProcesses({ fleet, runtime }).filter((one) => one.what === what);
    for (const one of found) signal(one, 'SIGTERM');
    const deadline = performance.now() + graceMs;
    while (found.some(lives) && performance.now() < deadline) await pause(LOOK_AGAIN_MS);
    for (const one of found) {
      const forced = signal(one, 'SIGKILL');
      while (lives(one)) await pause(LOOK_AGAIN_MS);
      ended.push({ what, pid: one.pid, forced });
    }
  }
  return ended;
}

/**
 * What a fleet runs at this moment.
 *
 * @param {{ fleet: string, runtime: string }} options absolute paths
 */
export function fleetProcesses({ fleet, runtime }) {
  return processes()
    .map((one) => ({ ...one, what: whatIs(one, fleet, runtime) }))
    .filter(({ what }) => what !== null);
}

/** @returns {{ pid: number, startTime: string, words: string[], environment: string[] }[]} our own user's processes */
function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const words = readFileSync(join('/proc', name, 'cmdline'), 'utf8').split('\0');
        const environment = readFileSync(join('/proc', name, 'environ'), 'utf8').split('\0');
        const startTime = startTimeOf(Number(name));
        return startTime === null ? [] : [{ pid: Number(name), startTime, words, environment }];
      } catch {
        return []; // It has ended, or it belongs to another user.
      }
    });
}

function whatIs({ words, environment }, fleet, runtime) {
  if (environment.some((line) => line.startsWith(`IDUNN_ACTIVATION_DIRECTORY=${runtime}/`))) return 'workload';
  if (words.some((word, at) => word === '--control' && words[at + 1]?.startsWith(`${runtime}/`))) {
    return words.some((word) => /\/attendant\/(?:dist\/main\.js|src\/main\.ts)$/.test(word)) ? 'attendant' : 'router';
  }
  const daemon = words.some((word) => /\/daemon\/(?:dist\/main\.js|src\/main\.ts)$/.test(word));
  return daemon && words.some((word, at) => word === '--fleet' && words[at + 1] === fleet) ? 'daemon' : null;
}

/** Field 22 of /proc/PID/stat, `null` when the process is gone or only waits to be collected. */
function startTimeOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

const lives = ({ pid, startTime }) => startTimeOf(pid) === startTime;

/** True when the process lived and was signalled. */
function signal(one, name) {
  if (!lives(one)) return false;
  try {
    process.kill(one.pid, name);
    return true;
  } catch {
    return false;
  }
}
