// A stream of bytes: what comes is sent back, and its end too.
import { createServer } from 'node:net';
import { Idunn } from '#workload';

const idunn = await Idunn.connect({});
const open = new Set();
const server = createServer((socket) => {
  open.add(socket);
  socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
  socket.pipe(socket);
});
await idunn.listen(server);
idunn.onStop(async () => {
  server.close();
  for (const socket of open) socket.destroy();
});
idunn.warm();
idunn.active();
