import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Machine } from './edge/machine.ts';
import { IdunnError } from './errors.ts';
import type { Activation } from './launch/directory.ts';
import { Secrets } from './launch/secrets.ts';
import type { Grant } from './lease/holder.ts';
import { keyFromSeed } from './words/envelope.ts';

export interface StandaloneOptions {
  /** SQLite stores by id, each with its file; made when missing. */
  readonly stores?: Readonly<Record<string, string>>;
  /** Directories by id, for stores of kind `files`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly endpoint?: { readonly host?: string; readonly port: number };
  readonly secrets?: Readonly<Record<string, string>>;
}

const STATE_ID = 'standalone';
const PRESENCE_EVERY_MS = 60_000;

const LEASE_TABLES = `
  CREATE TABLE IF NOT EXISTS idunn_lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    state_id TEXT NOT NULL, epoch INTEGER NOT NULL, activation TEXT, release TEXT, state_schema TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS idunn_nonce (id INTEGER PRIMARY KEY CHECK (id = 1), nonce TEXT NOT NULL) STRICT;
  INSERT OR IGNORE INTO idunn_lease VALUES (1, '${STATE_ID}', 0, NULL, NULL, '');`;

/**
 * Plays the authority for one development process: fresh keys, and a lease row that names it under the next epoch, so
 * that an older development process stops writing. A database that Idunn manages is refused, never taken over (I1).
 */
export function prepareStandalone(
  options: StandaloneOptions,
  machine: Machine,
): { readonly activation: Activation; readonly grant: Grant | null } {
  const fresh = (): string => machine.randomHex();
  const name = `standalone-${fresh().slice(0, 32)}`;
  const keys = [keyFromSeed(Buffer.from(fresh(), 'hex')), keyFromSeed(Buffer.from(fresh(), 'hex'))] as const;
  const sqlite = Object.entries(options.stores ?? {}).map(([id, path]) => ({ id, path: resolve(path) }));
  const files = Object.entries(options.files ?? {}).map(([id, path]) => ({ id, path: resolve(path) }));
  const epoch = grantTo(
    name,
    sqlite.map((store) => store.path),
  );
  const secrets = options.secrets ?? {};
  return {
    activation: {
      launch: {
        audience: { fleet: 'standalone', machine: 'local' },
        target: 'standalone',
        incarnation: `standalone@sha256:${'0'.repeat(64)}`,
        activation: name,
        authority: { keyId: keys[0].keyId, publicKey: '' },
        observer: null,
        endpoint: options.endpoint === undefined ? null : { host: '127.0.0.1', ...options.endpoint },
        revision: 'standalone',
        state:
          sqlite.length + files.length === 0
            ? null
            : {
                stateId: STATE_ID,
                schema: '',
                accepts: [],
                stores: [
                  ...sqlite.map((store) => ({ ...store, kind: 'sqlite' as const })),
                  ...files.map((store) => ({ ...store, kind: 'files' as const })),
                ],
              },
        presenceEveryMs: PRESENCE_EVERY_MS,
        attended: null,
        secrets: Object.keys(secrets),
      },
      keys,
      channelPath: '',
      secrets: new Secrets(Object.keys(secrets), (secret) => secrets[secret] ?? ''),
    },
    grant: sqlite.length + files.length === 0 ? null : { stateId: STATE_ID, epoch },
  };
}

/** Names `activation` in every store under one epoch above all of theirs; answers the epoch. */
function grantTo(activation: string, paths: readonly string[]): number {
  const databases = paths.map((path) => ({ path, database: new DatabaseSync(path) }));
  try {
    const epochs = databases.map(({ path, database }) => readEpoch(path, database));
    const epoch = Math.max(0, ...epochs) + 1;
    for (const { database } of databases) {
      const update = 'UPDATE idunn_lease SET epoch = ?, activation = ? WHERE id = 1';
      database.prepare(update).run(epoch, activation);
    }
    return epoch;
  } finally {
    for (const { database } of databases) database.close();
  }
}

function readEpoch(path: string, database: DatabaseSync): number {
  database.exec('PRAGMA journal_mode=WAL');
  database.exec(LEASE_TABLES);
  const row = database.prepare('SELECT state_id, epoch FROM idunn_lease WHERE id = 1').get();
  if (row?.['state_id'] !== STATE_ID) {
    throw new IdunnError('workload-store-managed', `Idunn manages ${path} as the state ${String(row?.['state_id'])}`);
  }
  return Number(row['epoch']);
}
