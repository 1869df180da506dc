import { request } from 'node:http';
import type { AttendedProbe, Machine } from '@idunn/workload/attending';
import { LIMITS } from '../limits.ts';
import { bad, type Finding, good } from '../model/reading.ts';

type HttpProbe = Extract<AttendedProbe, { kind: 'http' }>;

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * One request on a connection of its own, so that a server that serves one connection at a time is never kept from its
 * users. A redirect is an answer like any other: it is not followed, and its goal is shown (F5).
 */
export function probeHttp(probe: HttpProbe, at: Endpoint, timeoutMs: number, machine: Machine): Promise<Finding> {
  const { method, path } = probe;
  const asked = `${method} ${path}`;
  return new Promise((resolve) => {
    let seen: { readonly status: number; readonly location: string } | null = null;
    let body = '';
    const withdraw = machine.after(timeoutMs, () => finish(`${asked} did not answer within ${timeoutMs} ms`));
    const outgoing = request({
      ...at,
      method,
      path,
      agent: false,
      headers: {
        'user-agent': 'idunn-attendant',
        accept: '*/*',
        ...(method === 'POST' ? { 'content-length': 0 } : {}),
      },
    });
    const finish = (without: string): void => {
      withdraw();
      outgoing.destroy();
      resolve(
        seen === null ? bad(without) : judged(probe, `${asked} answered ${seen.status}${seen.location}`, seen, body),
      );
    };
    outgoing.on('error', (error) => finish(`${asked}: ${reasonOf(error)}`));
    outgoing.on('response', (answer) => {
      const { location } = answer.headers;
      seen = {
        status: answer.statusCode ?? 0,
        location: location === undefined ? '' : ` to ${location}, not followed`,
      };
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        body += text;
        if (body.length >= LIMITS.bodyBytes) finish(asked);
      });
      answer.on('error', () => undefined); // Its close follows.
      answer.on('close', () => finish(asked));
    });
    outgoing.end();
  });
}

function judged(probe: HttpProbe, said: string, { status }: { readonly status: number }, body: string): Finding {
  if (!probe.statuses.includes(status)) return bad(said, { status, body });
  if (probe.body === null || body.includes(probe.body)) return good(said, { status, body });
  return bad(`${said} without the text ${JSON.stringify(probe.body)}`, { status, body });
}

const reasonOf = (error: Error): string => ('code' in error ? `${String(error.code)} ` : '') + error.message;
