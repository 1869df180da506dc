/**
 * Node's HTTP. A module that imports `node:http` itself loads fetch and WebSocket with it, which costs each program
 * 15 ms and 13 MB.
 */
export const { Agent, createServer, request, ServerResponse } = process.getBuiltinModule('node:http');
