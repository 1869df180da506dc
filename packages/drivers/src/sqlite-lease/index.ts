export { createSqliteLease, type SqliteLease } from './driver.ts';
