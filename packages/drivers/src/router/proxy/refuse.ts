import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Code, catalogue } from '@idunn/kernel';

/** The router's own answer to a client, with the reason and the remedy; a 503 says when to come again. */
export function refuse(request: IncomingMessage, response: ServerResponse, status: number, code: Code): void {
  const { reason, remedy } = catalogue[code];
  const body = `${JSON.stringify({ code, reason, remedy })}\n`;
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...(status === 503 ? { 'Retry-After': '1' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
