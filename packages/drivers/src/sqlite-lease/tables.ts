/** The lease row and its nonce, as docs/workload-protocol.md has them. */
export const CREATE_TABLES = `
  CREATE TABLE IF NOT EXISTS idunn_lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    state_id TEXT NOT NULL, epoch INTEGER NOT NULL, activation TEXT, release TEXT, state_schema TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS idunn_nonce (id INTEGER PRIMARY KEY CHECK (id = 1), nonce TEXT NOT NULL) STRICT;`;

export const HAS_TABLES = `
  SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table' AND name IN ('idunn_lease', 'idunn_nonce')`;

export const INSERT_ROW = `
  INSERT INTO idunn_lease (id, state_id, epoch, activation, release, state_schema) VALUES (1, ?, ?, ?, ?, ?)`;

export const READ_ROW = `
  SELECT l.state_id AS stateId, l.epoch AS epoch, l.activation AS activation, l.release AS release,
         l.state_schema AS stateSchema, n.nonce AS nonce
  FROM idunn_lease AS l LEFT JOIN idunn_nonce AS n ON n.id = 1 WHERE l.id = 1`;

export const UPDATE_ROW = `
  UPDATE idunn_lease SET epoch = ?, activation = ?, release = ?, state_schema = ? WHERE id = 1`;

export const WRITE_NONCE = `
  INSERT INTO idunn_nonce (id, nonce) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET nonce = excluded.nonce`;
