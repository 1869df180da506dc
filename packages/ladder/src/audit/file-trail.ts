import { closeSync, constants, createReadStream, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { digestBytes, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { chained, EMPTY_LOG, type Head, readLine, type Verdict, verifyLines } from './chain.ts';
import type { AuditDraft, AuditLine, AuditTrail } from './port.ts';

/** Longest line of a log. */
export const LINE_LIMIT_BYTES = 65_536;
/** How long an append waits for another process that is appending. */
const LOCK_WAIT_MS = 2_000;
const TAIL_BYTES = 4 * LINE_LIMIT_BYTES;

/** An audit trail in one file, a JSON document a line, that several processes may append to. */
export interface FileTrail extends AuditTrail {
  /** Follows the chain from the first line to the last. */
  verify(): Promise<Verdict>;
  close(): void;
}

/**
 * A log, made with the first line when it is not there, readable by its owner only; until then nothing is touched. An
 * append holds a lock that ends with its
 * process, and is synchronous from lock to sync, so that nothing comes between the line before and the line that
 * links to it.
 */
export function openFileTrail(file: string): FileTrail {
  let lock: DatabaseSync | null = null;
  return {
    async append(draft) {
      try {
        lock ??= new DatabaseSync(`${file}.lock`, { timeout: LOCK_WAIT_MS });
        lock.exec('BEGIN IMMEDIATE');
        try {
          return appended(file, draft);
        } finally {
          lock.exec('ROLLBACK');
        }
      } catch (error) {
        return unwritable(file, error instanceof Error ? error.message : String(error));
      }
    },
    verify: () => verifyLines(createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })),
    close: () => lock?.close(),
  };
}

function appended(file: string, draft: AuditDraft): Outcome<AuditLine> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const log = openSync(file, flags, 0o600);
  try {
    const end = endOf(log);
    if (end === null) return refused(refusal('audit-broken', `The last lines of ${file} are not what was written.`));
    const { head, torn, unfinished } = end;
    const recovery = torn === null ? null : chained(head, recovered(draft, torn));
    const line = chained(recovery ?? head, draft);
    const text = asLine(line);
    if (Buffer.byteLength(text) > LINE_LIMIT_BYTES) return unwritable(file, 'the line is too long');
    const lines = [...(recovery === null ? [] : [asLine(recovery)]), text];
    const bytes = Buffer.from(`${unfinished ? '\n' : ''}${lines.join('\n')}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(log, bytes, at);
    fsyncSync(log);
    return ok(line);
  } finally {
    closeSync(log);
  }
}

/** JSON in one line to every reader: some take U+2028 and U+2029 for line ends. */
const asLine = (line: AuditLine): string =>
  JSON.stringify(line).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

interface End {
  readonly head: Head;
  /** What a crash left behind the last whole line; `null` when nothing. */
  readonly torn: string | null;
  /** Whether that still lacks its line end. */
  readonly unfinished: boolean;
}

/** The last whole line and what is behind it; `null` when there is no whole line where one must be. */
function endOf(log: number): End | null {
  const { size } = fstatSync(log);
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  for (let at = 0; at < tail.length; ) {
    const read = readSync(log, tail, at, tail.length - at, size - tail.length + at);
    if (read === 0) return null;
    at += read;
  }
  const text = tail.toString('utf8');
  const unfinished = text !== '' && !text.endsWith('\n');
  const lines = text === '' ? [] : (unfinished ? text : text.slice(0, -1)).split('\n');
  const last = lines.findLastIndex((line) => readLine(line) !== null);
  const whole = last < 0 ? null : readLine(lines[last] ?? '');
  if (whole === null && size > TAIL_BYTES) return null;
  const behind = lines.slice(last + 1);
  return { head: whole ?? EMPTY_LOG, torn: behind.length === 0 ? null : behind.join('\n'), unfinished };
}

/** A crash cut a line short: the log says so, and what it was, instead of losing it. */
const recovered = (draft: AuditDraft, torn: string): AuditDraft => ({
  actor: draft.actor,
  tenant: draft.tenant,
  from: draft.from,
  atMs: draft.atMs,
  kind: 'recovered',
  what: 'a line that was cut short',
  target: '',
  outcome: 'done',
  detail: { digest: digestBytes(torn), bytes: Buffer.byteLength(torn) },
});

const unwritable = (file: string, because: string): Outcome<never> =>
  refused(refusal('audit-unwritable', `The audit log ${file} could not be written: ${because}.`));
