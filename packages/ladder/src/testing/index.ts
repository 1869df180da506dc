export { type PostgresServer, startPostgres } from '../data/testing/postgres-server.ts';
export { ApiServer } from '../kubernetes/testing/api-server.ts';
export { BROKEN, runControllers } from '../kubernetes/testing/controllers.ts';
