import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

/**
 * Runs inside the sandbox, before the step's program: gives the way out, a Unix socket, the loopback address that
 * programs know how to use as their proxy. It grants nothing: whoever ends it only loses the way out. This file stands
 * alone in the sandbox, so it imports nothing of ours.
 *
 * Words: the socket's path, the port, the program and its words.
 */
const [socket, port, program, ...words] = process.argv.slice(2);
if (socket === undefined || port === undefined || program === undefined) throw new TypeError('three words are needed');

const server = createServer({ allowHalfOpen: true }, (inside) => {
  const outside = connect({ path: socket, allowHalfOpen: true });
  inside.on('error', () => outside.destroy());
  outside.on('error', () => inside.destroy());
  inside.pipe(outside).pipe(inside);
});
server.listen({ host: '127.0.0.1', port: Number(port) }, () => {
  const child = spawn(program, words, { stdio: 'inherit' });
  child.once('error', ({ message }) => {
    console.error(`${program}: ${message}`);
    process.exit(127);
  });
  // The exit is carried on; a signal in the way of shells, as bubblewrap does too.
  child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGKILL' ? 137 : 128)));
});
