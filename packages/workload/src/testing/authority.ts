import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { StoreLocation } from '../launch/document.ts';
import type { SqlConnection, SqliteDriver } from '../sqlite/driver.ts';
import { nodeSqlite } from '../sqlite/node-sqlite.ts';
import { type Envelope, keyFromSeed, rawPublicKey, type SigningKey, signEnvelope } from '../words/envelope.ts';
import type { JsonObject } from '../words/json.ts';

export const STATE_ID = 'state-1';
export const ACTIVATION = 'act-00000000000000000000000000000001';
export const OTHER = 'act-00000000000000000000000000000002';
export const AUDIENCE = { fleet: 'alpha', machine: 'local' };

const seed = (byte: number): SigningKey => keyFromSeed(Buffer.alloc(32, byte));
export const AUTHORITY_KEY = seed(1);
export const ACTIVATION_KEY = seed(2);
export const SIGNER_KEY = seed(3);
export const OBSERVER_KEY = seed(4);
export const STRANGER_KEY = seed(9);

export const seedBase64 = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
export const publicBase64 = (key: SigningKey): string => rawPublicKey(key.publicKey).toString('base64');

/** A directory of the test's own, gone with it. */
export function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'idunn-w-'));
  t.after(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** A store as the authority prepares it, with the row naming `activation`. */
export function makeStore(path: string, epoch = 1, activation: string | null = ACTIVATION): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode=WAL');
  database.exec(`
    CREATE TABLE idunn_lease (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      state_id TEXT NOT NULL, epoch INTEGER NOT NULL, activation TEXT, release TEXT, state_schema TEXT NOT NULL
    ) STRICT;
    CREATE TABLE idunn_nonce (id INTEGER PRIMARY KEY CHECK (id = 1), nonce TEXT NOT NULL) STRICT;
    CREATE TABLE world (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;`);
  database.prepare("INSERT INTO idunn_lease VALUES (1, ?, ?, ?, NULL, 'world/1')").run(STATE_ID, epoch, activation);
  database.close();
}

/** The authority's hand on a store: its own connection, without busy timeout, as design section 6 has it. */
export class LeaseHand {
  readonly database: SqlConnection;

  /** In one process, only through the library that the program uses: two of them would drop each other's file locks. */
  constructor(path: string, driver: SqliteDriver = nodeSqlite) {
    this.database = driver.open(path, 0);
  }

  /** Moves the row; `busy` when somebody is writing at this moment. */
  swap(epoch: number, activation: string | null): 'swapped' | 'busy' {
    try {
      this.database.exec('BEGIN IMMEDIATE');
    } catch {
      return 'busy';
    }
    this.database.prepare('UPDATE idunn_lease SET epoch = ?, activation = ? WHERE id = 1').run(epoch, activation);
    this.database.exec('COMMIT');
    return 'swapped';
  }

  nonce(nonce: string): void {
    this.database.prepare('INSERT OR REPLACE INTO idunn_nonce VALUES (1, ?)').run(nonce);
  }

  /** What the world holds, as anybody else sees it. */
  world(): readonly string[] {
    const rows = this.database.prepare('SELECT text FROM world ORDER BY id').all();
    return rows.map((row) => String(row['text']));
  }

  close(): void {
    this.database.close();
  }
}

export interface LaunchFields {
  readonly stores?: readonly StoreLocation[] | null;
  readonly observerSocket?: string | null;
  readonly port?: number;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly presenceEveryMs?: number;
  readonly signedWith?: SigningKey;
  readonly attended?: JsonObject;
  readonly activation?: string;
}

export function launchPayload(fields: LaunchFields = {}): JsonObject {
  const stores = fields.stores ?? null;
  const incarnation = `world@sha256:${'a'.repeat(64)}`;
  const observerSocket = fields.observerSocket ?? null;
  const activation = fields.activation ?? ACTIVATION;
  return {
    header: {
      schema: 'idunn.launch/v1',
      issuer: AUTHORITY_KEY.keyId,
      audience: AUDIENCE,
      subject: activation,
      requestId: 'launch-1',
      sequence: 1,
    },
    target: 'world',
    incarnation,
    activation,
    authority: { keyId: AUTHORITY_KEY.keyId, publicKey: publicBase64(AUTHORITY_KEY) },
    observer:
      observerSocket === null
        ? null
        : { socket: observerSocket, keyId: OBSERVER_KEY.keyId, publicKey: publicBase64(OBSERVER_KEY) },
    endpoint: fields.port === undefined ? null : { host: '127.0.0.1', port: fields.port },
    expected: { schema: 'idunn.expected/v1', revision: '0'.repeat(40), capabilities: [] },
    state:
      stores === null
        ? null
        : {
            stateId: STATE_ID,
            schema: 'world/1',
            accepts: ['world/1'],
            stores: stores.map((store) => ({ ...store })),
          },
    presenceEveryMs: fields.presenceEveryMs ?? 60_000,
    secrets: Object.keys(fields.secrets ?? {}),
    ...(fields.attended === undefined ? {} : { attended: fields.attended }),
  };
}

/** An activation directory as the daemon mints it. */
export function makeActivation(directory: string, fields: LaunchFields = {}): string {
  mkdirSync(join(directory, 'secrets'), { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const envelope = signEnvelope(launchPayload(fields), [fields.signedWith ?? AUTHORITY_KEY]);
  writeFileSync(join(directory, 'launch.json'), JSON.stringify(envelope));
  writeFileSync(join(directory, 'activation.key'), `${seedBase64(2)}\n`, { mode: 0o600 });
  writeFileSync(join(directory, 'signer.key'), `${seedBase64(3)}\n`, { mode: 0o600 });
  for (const [name, value] of Object.entries(fields.secrets ?? {})) {
    writeFileSync(join(directory, 'secrets', name), value, { mode: 0o600 });
  }
  return directory;
}

/** One message of the authority. */
export function command(
  type: string,
  fields: JsonObject,
  sequence: number,
  requestId = `req-${sequence}`,
  more: { readonly header?: JsonObject; readonly key?: SigningKey } = {},
): { readonly type: string; readonly envelope: Envelope } {
  const header = {
    schema: `idunn.channel-${type}/v1`,
    issuer: AUTHORITY_KEY.keyId,
    audience: AUDIENCE,
    subject: ACTIVATION,
    requestId,
    sequence,
    ...more.header,
  };
  return { type, envelope: signEnvelope({ header, ...fields }, [more.key ?? AUTHORITY_KEY]) };
}

/** The payload of an envelope, unchecked. */
export const payloadOf = (envelope: Envelope): Record<string, unknown> =>
  JSON.parse(Buffer.from(envelope.payload, 'base64').toString('utf8')) as Record<string, unknown>;
