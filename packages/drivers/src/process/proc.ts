import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';

/** What one read of /proc/PID/stat told. */
export interface ProcessStat {
  /** `R`, `S`, `D`, `Z`, `X`, … */
  readonly state: string;
  readonly parent: number;
  /** Field 22, in clock ticks since boot, as decimal text. */
  readonly startTime: string;
}

/** Takes a stat line apart; the command's name may hold anything, so fields count from its last parenthesis. */
export function parseStat(line: string): ProcessStat | null {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  const startTime = fields[19];
  if (state === undefined || parent === undefined || startTime === undefined) return null;
  return { state, parent: Number(parent), startTime };
}

/** A stat line is a name of at most 16 bytes and some fifty numbers; every look reads into the same memory. */
const statBytes = Buffer.alloc(4_096);

/** `absent` says only that /proc shows no such process; whether that counts is `vital`'s to judge. */
export function readStat(pid: number): Evidence<ProcessStat> {
  try {
    const stat = parseStat(readStatLine(pid));
    return stat === null ? unknown(`/proc/${pid}/stat has another form`) : seen(stat);
  } catch (error) {
    return isErrno(error, 'ENOENT', 'ESRCH') ? absent : unknown(`/proc/${pid}/stat: ${messageOf(error)}`);
  }
}

/** The kernel gives the whole line at once. A look is taken at every process again and again: no size, no copy. */
function readStatLine(pid: number): string {
  const file = openSync(`/proc/${pid}/stat`, 'r');
  try {
    return statBytes.toString('latin1', 0, readSync(file, statBytes));
  } finally {
    closeSync(file);
  }
}

/** True while another thread than the leader is listed: a zombie with living threads is not gone. */
export function hasOtherThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((task) => task !== String(pid));
  } catch {
    return false;
  }
}

/** Every process that /proc shows. */
export const processIds = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** The words of argv, as the process shows them now. */
export async function readArgv(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/**
 * One value of the environment that the process was started with; `null` when it has none, `unreadable` when that
 * cannot be said.
 */
export async function readEnvironment(
  pid: number,
  name: string,
): Promise<{ readonly value: string | null } | 'unreadable'> {
  try {
    const words = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
    return { value: words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? null };
  } catch {
    return 'unreadable';
  }
}

/** Since boot, in the unit and by the clock of a process's start time: a constant of the kernel's interface. */
export const ticksSinceBoot = (): bigint =>
  BigInt(Math.floor(Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 100));

/** The pid namespace that this process lives in, such as `pid:[4026531836]`. */
export const ownPidNamespace = (): string => readlinkSync('/proc/self/ns/pid');

export const isErrno = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
