export { type Answer, answered, declined } from './answer.ts';
export { API_HEADER, API_VERSION, OPERATOR_SOCKET, SOCKET_PATH_LIMIT_BYTES } from './api.ts';
export { type Client, createClient } from './client.ts';
export { type Account, type FleetDirectories, fleetDirectories, operatorSocket } from './fleet/directories.ts';
export { FLEET_FILE, type Located, type LocateRequest, locateFleet, POINTER_FILE } from './fleet/locate.ts';
export { targetHealthOf } from './health.ts';
export type * from './schemas/index.ts';
export { EventStreamParser, type StreamMessage } from './transport/event-stream.ts';
export { type Followed, type FollowRequest, follow } from './transport/follow.ts';
