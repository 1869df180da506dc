import { type ChildProcess, spawn } from 'node:child_process';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { NotifierFile } from '@idunn/release';
import type { Way } from './notifier.ts';
import { readToken } from './secret-file.ts';
import { readSigningKey, webhookHeaders } from './signing.ts';

/** How long one delivery may take. */
const PATIENCE_MS = 30_000;

/** What a way needs of the machine. */
export interface WayMeans {
  /** Wall clock: who is told compares it with their own. */
  readonly wallMs: () => number;
  /** Whose secret files are. */
  readonly uid: number;
}

/** The way that a `[[notify]]` of fleet.toml asks for. `patienceMs`: how long one delivery may take, all of it. */
export function wayOf(file: NotifierFile, means: WayMeans, patienceMs = PATIENCE_MS): Way {
  const { id, webhook, command } = file;
  return {
    id,
    deliver: (notice, over) => {
      const limit = AbortSignal.any([over, AbortSignal.timeout(patienceMs)]);
      const body = JSON.stringify(notice);
      return webhook === undefined
        ? run(command ?? [], body, limit)
        : post(new URL(webhook), file, `${notice.incident}-${notice.state}`, body, means, limit);
    },
  };
}

/** Token and secret are read for each delivery, and are in no message of ours; without one of them nothing is sent. */
async function post(
  url: URL,
  { token_file, secret_file }: NotifierFile,
  id: string,
  body: string,
  { wallMs, uid }: WayMeans,
  signal: AbortSignal,
): Promise<void> {
  const token = token_file === undefined ? null : await readToken(token_file, uid);
  const key = secret_file === undefined ? null : await readSigningKey(secret_file, uid);
  for (const read of [token, key]) if (read?.ok === false) throw new Error(read.refusal.reason);
  const signed = webhookHeaders({ id, timestampS: Math.floor(wallMs() / 1_000), body }, key?.ok ? key.value : null);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  await new Promise<void>((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...signed,
      ...(token?.ok ? { authorization: `Bearer ${token.value}` } : {}),
    };
    const outgoing = request(url, { method: 'POST', headers, agent: false, signal }, (answer) => {
      // Its status is all that is asked: a body may have no end.
      answer.destroy();
      const { statusCode = 0 } = answer;
      if (statusCode >= 200 && statusCode < 300) resolve();
      else reject(new Error(`the webhook answered ${statusCode}`));
    });
    outgoing.on('error', (error) => reject(signal.aborted ? new Error('the webhook did not answer in time') : error));
    outgoing.end(body);
  });
}

/**
 * By argv, with the notice on standard input and nothing of our environment but PATH, in a process group of its own.
 * One that is over its limit, or failed, leaves nothing of that group behind: it is tried again, and again.
 */
function run(argv: readonly string[], body: string, limit: AbortSignal): Promise<void> {
  const [program = '', ...words] = argv;
  return new Promise<void>((resolve, reject) => {
    const child = spawn(program, words, {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    const end = (): void => endGroup(child);
    limit.addEventListener('abort', end);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      limit.removeEventListener('abort', end);
      if (code === 0) return resolve();
      end();
      reject(new Error(`the command ended with ${signal ?? code}`));
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
  });
}

/** The group is the child's own: its id is the child's pid, which nobody else can have while one member lives. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
