import { Agent, request } from 'node:http';

export interface LoadReport {
  readonly requests: number;
  readonly failures: readonly string[];
  /** Answer bodies by how often they came. */
  readonly bodies: ReadonlyMap<string, number>;
}

export interface Load {
  /** Resolves once every client had an answer to a request that it began from now on. */
  readonly turn: () => Promise<void>;
  readonly stop: () => Promise<LoadReport>;
}

/** Closed-loop clients on keep-alive connections, every other request a POST. Any answer but 200 is a failure. */
export function startLoad(port: number, clients: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const failures: string[] = [];
  const bodies = new Map<string, number>();
  const turns = new Set<{ readonly waiting: Set<number>; readonly over: () => void }>();
  let requests = 0;
  const running = { go: true };

  const client = async (number: number): Promise<void> => {
    while (running.go) {
      const begun = [...turns];
      requests++;
      const answer = await exchange(agent, port, requests % 2 === 0 ? 'POST' : 'GET', `/event/${requests}`);
      if (answer.status !== 200) failures.push(`${answer.status} ${answer.body}`);
      bodies.set(answer.body, (bodies.get(answer.body) ?? 0) + 1);
      for (const turn of begun) if (turn.waiting.delete(number) && turn.waiting.size === 0) turn.over();
    }
  };
  const loops = Array.from({ length: clients }, (_, number) => client(number));

  return {
    turn: () =>
      new Promise((resolve) => {
        const turn = {
          waiting: new Set(loops.keys()),
          over: () => {
            turns.delete(turn);
            resolve();
          },
        };
        turns.add(turn);
      }),
    async stop() {
      running.go = false;
      await Promise.all(loops);
      agent.destroy();
      return { requests, failures, bodies };
    },
  };
}

function exchange(agent: Agent, port: number, method: string, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const body = method === 'POST' ? 'some event' : '';
    const headers = { 'Content-Type': 'text/plain', ...(body === '' ? {} : { 'Content-Length': body.length }) };
    const attempt = request({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
      answer.on('error', (error) => resolve({ status: 0, body: String(error) }));
    });
    attempt.on('error', (error) => resolve({ status: 0, body: String(error) }));
    attempt.end(body);
  });
}
