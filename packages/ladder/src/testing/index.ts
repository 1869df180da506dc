export { type PostgresServer, startPostgres } from '../data/testing/postgres-server.ts';
