import { request } from 'node:http';

export interface Event {
  readonly seq: number;
  readonly id: string;
  readonly hash: string;
  readonly epoch: number;
}

export interface VersionAnswer {
  readonly version: string;
  readonly revision: string;
  readonly incarnation: string;
  readonly pid: number;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request on a connection of its own. */
export function ask(url: string, path: string, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const outgoing = request(
      new URL(path, url),
      {
        agent: false,
        method: text === undefined ? 'GET' : 'POST',
        ...(text === undefined
          ? {}
          : { headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } }),
      },
      (response) => {
        let whole = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          whole += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: whole }));
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}

export async function json<T>(url: string, path: string, body?: unknown): Promise<T> {
  const answer = await ask(url, path, body);
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
  return JSON.parse(answer.body) as T;
}

/** Writers in closed loops that remember what was acknowledged; any answer but 2xx on the first try is a failure. */
export function writers(url: string, count: number): { stop(): Promise<{ acked: Event[]; failed: string[] }> } {
  const acked: Event[] = [];
  const failed: string[] = [];
  const enough = new AbortController();
  const loops = Array.from({ length: count }, async (_, writer) => {
    for (let n = 0; !enough.signal.aborted; n++) {
      const id = `w${writer}-${n}`;
      try {
        const answer = await ask(url, '/events', { id, text: `event ${id}` });
        if (answer.status >= 200 && answer.status < 300) acked.push(JSON.parse(answer.body) as Event);
        else failed.push(`${id}: ${answer.status} ${answer.body}`);
      } catch (error) {
        failed.push(`${id}: ${String(error)}`);
      }
    }
  });
  return {
    async stop() {
      enough.abort();
      await Promise.all(loops);
      return { acked, failed };
    },
  };
}

/** The whole journal, a page at a time. */
export async function journal(url: string): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const page = await json<{ events: Event[] }>(url, `/events?from=${(events.at(-1)?.seq ?? 0) + 1}`);
    if (page.events.length === 0) return events;
    events.push(...page.events);
  }
}
