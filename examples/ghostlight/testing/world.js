import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));

/** A directory of the test's own, gone with it. */
export function scratch(t) {
  const directory = mkdtempSync(join(tmpdir(), 'ghostlight-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The real program, alone with its journal; resolves when it listens, and fails at once when it ends instead. */
export async function start(t, journal = join(scratch(t), 'journal.db')) {
  const { IDUNN_ACTIVATION_DIRECTORY: _, ...environment } = process.env;
  const child = spawn(process.execPath, [...process.execArgv.filter((word) => word.startsWith('--conditions')), MAIN], {
    env: { ...environment, GHOSTLIGHT_JOURNAL: journal, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([status, signal]) => {
    throw new Error(`it ended before it listened, with ${signal ?? `exit status ${status}`}`);
  });
  ended.catch(() => undefined); // it ends after each test too
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const origin = /http:\/\/\S+/.exec(String(line))?.[0];
  if (origin === undefined) throw new Error(`it said: ${line}`);
  return { child, origin, journal };
}

/** @returns {Promise<{ status: number, headers: object, value: any }>} */
export async function call(origin, method, path, body) {
  const response = await fetch(`${origin}${path}`, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, value: json ? JSON.parse(text) : text };
}

/** Reads server-sent events: an async iterator of their data. */
export async function* streamOf(origin, path, headers = {}) {
  const sent = request(`${origin}${path}`, { headers });
  sent.end();
  const [response] = await once(sent, 'response');
  let rest = '';
  for await (const chunk of response) {
    rest += chunk;
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}
