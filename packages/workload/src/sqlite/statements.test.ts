import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { refuseStatements } from './statements.ts';

const refusedInWrite = (sql: string): boolean => refuseStatements(sql, 'write', false) !== null;

const TRIGGER = `CREATE TEMP TRIGGER IF NOT EXISTS t AFTER INSERT ON world BEGIN
  UPDATE world SET text = CASE id WHEN 1 THEN ';' ELSE 'COMMIT' END; DELETE FROM world; -- END;
END`;

test('I1: statements that end, begin or leave the transaction are refused wherever they hide', () => {
  const hidden = [
    'COMMIT',
    'end',
    'ROLLBACK TO x',
    'BEGIN',
    'SAVEPOINT s',
    'RELEASE s',
    "ATTACH 'x' AS y",
    'DETACH y',
    'VACUUM',
    "INSERT INTO world VALUES (1, ';'); COMMIT",
    'SELECT 1; /* ; */ COMMIT; INSERT INTO world VALUES (1, 1)',
    '-- quiet\n;;  cOmMiT',
    '\uFEFFCOMMIT',
    `${TRIGGER}; COMMIT`,
    `EXPLAIN QUERY PLAN ${TRIGGER}; COMMIT`,
    "SELECT $a('); COMMIT; INSERT INTO world VALUES (1, 2); SELECT $b(')",
    'SELECT "a""; COMMIT"; COMMIT',
    'SELECT [;]; COMMIT',
    'SELECT `;``;`; COMMIT',
    'SELECT 1;\0COMMIT',
  ];
  for (const sql of hidden) assert.ok(refusedInWrite(sql), sql);
});

test('ordinary statements are not refused, whatever their text holds', () => {
  const ordinary = [
    "INSERT INTO world VALUES (1, 'COMMIT; ROLLBACK')",
    'WITH w AS (SELECT 1) INSERT INTO world SELECT * FROM w',
    'UPDATE world SET text = $text WHERE id = :id',
    `${TRIGGER};`,
    `${TRIGGER}; INSERT INTO world VALUES (1, 'x');`,
    'CREATE TABLE commit_log ("begin" TEXT, [end] TEXT)',
    'PRAGMA user_version = 3',
    'PRAGMA main.table_info(world)',
    '-- COMMIT;\nSELECT 1 /* ; COMMIT */',
    '',
  ];
  for (const sql of ordinary) assert.equal(refuseStatements(sql, 'write', false), null, sql);
});

test('I1: settings and tables of the SDK are out of reach', () => {
  const settings = [
    'query_only=0',
    'journal_mode=DELETE',
    'locking_mode=EXCLUSIVE',
    'writable_schema=1',
    '"query_only"=0',
  ];
  for (const setting of settings) {
    assert.ok(refusedInWrite(`PRAGMA ${setting}`), setting);
    assert.ok(refusedInWrite(`PRAGMA main.${setting}`), setting);
  }
  for (const name of ['idunn_lease', '"Idunn_Lease"', "'idunn_nonce'", '[idunn_lease]']) {
    assert.ok(refusedInWrite(`UPDATE ${name} SET epoch = 9`), name);
  }
});

test('a read admits no statement that changes anything', () => {
  assert.equal(refuseStatements('SELECT 1', 'read', true), null);
  assert.notEqual(refuseStatements('DELETE FROM world', 'read', true), null);
});

test('a prepared text is one statement', () => {
  assert.notEqual(refuseStatements('SELECT 1; SELECT 2', 'write', true), null);
  assert.notEqual(refuseStatements('  -- nothing', 'write', true), null);
});

test('no table-valued PRAGMA can change a setting behind the scanner', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('PRAGMA query_only=1');
  for (const sql of ['SELECT * FROM pragma_query_only(0)', 'SELECT * FROM pragma_query_only']) {
    try {
      database.prepare(sql).all();
    } catch {
      // Refused by SQLite itself: as good.
    }
  }
  assert.equal(database.prepare('PRAGMA query_only').get()?.['query_only'], 1);
  assert.throws(() => {
    database.exec('CREATE TABLE t (x)');
  });
  database.close();
});

test('I1: what the scanner lets pass never ends a transaction of the real SQLite', () => {
  const pieces = [
    'SELECT 1',
    ';',
    'COMMIT',
    "'",
    '"',
    '`',
    '[',
    ']',
    '--',
    '\n',
    '/*',
    '*/',
    '$a(',
    ')',
    'END',
    TRIGGER,
    ' ',
  ];
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE world (id INTEGER PRIMARY KEY, text TEXT)');
  let state = 7;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  let [passed, ended] = [0, 0];
  for (let round = 0; round < 20_000; round++) {
    const sql = Array.from({ length: 1 + next(9) }, () => pieces[next(pieces.length)]).join('');
    const admitted = refuseStatements(sql, 'write', false) === null;
    database.exec('BEGIN');
    try {
      database.exec(sql);
    } catch {
      // A syntax error stops SQLite; what ran before it is judged all the same.
    }
    if (database.isTransaction) database.exec('ROLLBACK');
    else {
      ended += 1;
      assert.equal(admitted, false, sql);
    }
    if (admitted) passed += 1;
  }
  database.close();
  assert.ok(passed > 1_000 && ended > 100, `${passed} passed, ${ended} ended the transaction`);
});
