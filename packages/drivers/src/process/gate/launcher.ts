import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { READ_ROW } from '../../sqlite-lease/tables.ts';
import { GATE_LINE_LIMIT_BYTES, type GateGrant, type GateOpened, type GateOrders, type GateRefusal } from './orders.ts';

/**
 * Stands in a program's place until the program may write, and then becomes it: the same process, with the same
 * control group, log and death fifo, and nothing of its own left. It needs no daemon to go on waiting. Everything that
 * it opens is closed by the kernel when it becomes the program.
 */
const [, , ordersFile] = process.argv;
if (ordersFile === undefined) throw new Error('the launcher is told where its orders are');
const orders = JSON.parse(readFileSync(ordersFile, 'utf8')) as GateOrders;

/** How long the lease row is tried for while its database recovers, in milliseconds. */
const PATIENCE_MS = 2_000;
/** Connections at once; a daemon needs one. */
const CONNECTION_LIMIT = 8;

// Node ignores these, and what is ignored stays so in the program; what is caught falls back to the default.
for (const name of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(name, () => {});

const server = createServer((socket) => {
  let text = '';
  socket.setEncoding('utf8').on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end !== -1) answer(socket, text.slice(0, end));
    else if (text.length > GATE_LINE_LIMIT_BYTES) socket.destroy();
  });
});
server.maxConnections = CONNECTION_LIMIT;
server.listen(orders.socket);

/** Becomes the program, or says why not and goes on waiting. */
function answer(socket: Socket, line: string): void {
  const because = whyNot(line) ?? becomeProgram();
  socket.end(`${JSON.stringify({ because } satisfies GateRefusal)}\n`);
}

/** Returns only where a process cannot become another program. */
function becomeProgram(): string {
  process.execve?.(orders.argv[0], [...orders.argv], { ...orders.environment });
  return 'this Node cannot become another program';
}

/** Null when the gate is open, which is recorded then: nobody opens it again. */
function whyNot(line: string): string | null {
  try {
    const { activation, epoch } = JSON.parse(line) as GateGrant;
    if (activation !== orders.activation) return `the grant is for activation ${activation}`;
    return namedByRow(epoch) ?? takeGate(epoch);
  } catch (error) {
    return String(error);
  }
}

/** The row decides, not whoever reached the socket (I1, I5). */
function namedByRow(epoch: number): string | null {
  const url = pathToFileURL(orders.lease);
  url.searchParams.set('mode', 'rw');
  const database = new DatabaseSync(url, { timeout: PATIENCE_MS });
  try {
    database.exec('PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0;');
    const { stateId, activation, epoch: at } = database.prepare(READ_ROW).get() ?? {};
    if (stateId === orders.stateId && activation === orders.activation && at === epoch) return null;
    return `the lease row names ${String(activation ?? 'nobody')} at epoch ${String(at)}`;
  } finally {
    database.close();
  }
}

function takeGate(epoch: number): string | null {
  const draft = `${orders.opened}.draft`;
  const opened: GateOpened = { schema: 'idunn.gate-opened/v1', activation: orders.activation, epoch };
  writeFileSync(draft, `${JSON.stringify(opened)}\n`, { mode: 0o600 });
  // A link appears whole or not at all, and never twice.
  linkSync(draft, orders.opened);
  unlinkSync(draft);
  return null;
}
