import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { NotifierFile } from '@idunn/release';
import type { Way } from './notifier.ts';

/** How long one delivery may take. */
const PATIENCE_MS = 30_000;

/** The way that a `[[notify]]` of fleet.toml asks for. */
export function wayOf({ id, webhook, token_file, command }: NotifierFile): Way {
  return {
    id,
    deliver: (notice) =>
      webhook === undefined
        ? run(command ?? [], JSON.stringify(notice))
        : post(new URL(webhook), token_file ?? null, JSON.stringify(notice)),
  };
}

/** The token is read for each delivery, and is in no message of ours. */
async function post(url: URL, tokenFile: string | null, body: string): Promise<void> {
  const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  await new Promise<void>((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const outgoing = request(url, { method: 'POST', headers, agent: false, timeout: PATIENCE_MS }, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      if (statusCode >= 200 && statusCode < 300) resolve();
      else reject(new Error(`the webhook answered ${statusCode}`));
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('the webhook did not answer in time')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** By argv, with the notice on standard input and nothing of our environment but PATH. */
function run(argv: readonly string[], body: string): Promise<void> {
  const [program = '', ...words] = argv;
  return new Promise<void>((resolve, reject) => {
    const child = spawn(program, words, {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the command ended with ${signal ?? code}`));
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
  });
}
