export { EventLog } from './api/event-log.ts';
export type { ApiParts, LogReader } from './api/parts.ts';
export { apiServer } from './api/server.ts';
