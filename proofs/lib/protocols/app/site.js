// Requests of every shape over one route: WebSocket, server-sent events, large bodies, HEAD.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { Idunn } from '#workload';

const EVENT_MS = 50;
const block = Buffer.alloc(1_048_576, 'protocols');

/** On a clock that every process of the machine shares. */
const now = () => performance.timeOrigin + performance.now();

const idunn = await Idunn.connect({});
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://site');
  if (pathname === '/events') return events(request, response);
  if (pathname === '/upload') return upload(request, response);
  if (pathname === '/block') {
    response.writeHead(200, { 'Content-Length': block.length });
    return response.end(request.method === 'HEAD' ? undefined : block);
  }
  return response.end(`${process.pid}`);
});

function events(request, response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const timer = setInterval(() => response.write(`data: ${now()}\n\n`), EVENT_MS);
  response.on('close', () => clearInterval(timer));
}

function upload(request, response) {
  const hash = createHash('sha256');
  request.on('data', (chunk) => hash.update(chunk));
  request.on('end', () => response.end(hash.digest('hex')));
}

const sockets = new WebSocketServer({ server, path: '/chat' });
sockets.on('connection', (socket) =>
  socket.on('message', (data) => socket.send(Buffer.concat([Buffer.from(`${process.pid} `), data]))),
);

await idunn.listen(server);
idunn.onStop(async () => {
  for (const socket of sockets.clients) socket.terminate();
  server.close();
  server.closeAllConnections();
});
idunn.warm();
idunn.active();
