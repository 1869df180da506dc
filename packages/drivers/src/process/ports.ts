import { createServer } from 'node:net';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';

/** The first port of the range that nobody was promised and that can be bound now. */
export async function pickPort(
  range: { readonly host: string; readonly fromPort: number; readonly toPort: number },
  taken: ReadonlySet<number>,
): Promise<Outcome<number>> {
  for (let port = range.fromPort; port <= range.toPort; port++) {
    if (!taken.has(port) && (await canBind(range.host, port))) return ok(port);
  }
  return refused(refusal('ports-exhausted', `No port of ${range.host}:${range.fromPort}-${range.toPort} is free.`));
}

function canBind(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
