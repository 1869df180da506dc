import { parentPort, workerData } from 'node:worker_threads';
import { MAX_GROUP } from '../limits.ts';
import { StoreFault } from '../port.ts';
import { type Database, database } from './database.ts';
import { openFault, readFault } from './faults.ts';
import { type StoreLock, takeLock } from './lock.ts';
import type { Answer, Fault, Operations, Request, ThreadData, ThreadMessage } from './protocol.ts';

/** The store's own thread: it takes the lock, opens the database, and carries out each turn in order. */
if (parentPort === null) throw new Error('this module is the store’s thread');
const port = parentPort;
const say = (message: ThreadMessage): void => port.postMessage(message);

try {
  const { lock, store } = openStore(workerData as ThreadData);
  port.on('message', (turn: readonly Request[]) => {
    say({ kind: 'turn', answers: carryOut(turn, lock, store) });
    if (turn.some((request) => request.name === 'close')) port.close();
  });
  say({ kind: 'opened' });
} catch (error) {
  say({ kind: 'not-opened', fault: faultOf(openFault(error)) });
}

function openStore({ file, holder, maxBytes }: ThreadData): { lock: StoreLock; store: Database } {
  const lock = takeLock(`${file}.lock`, holder);
  try {
    const store = database(file, { mayCreate: !lock.storeWasHere, maxBytes });
    if (!lock.storeWasHere) lock.rememberStore();
    return { lock, store };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Consecutive commits share one transaction and one sync; everything else is carried out by itself, in its place. */
function carryOut(turn: readonly Request[], lock: StoreLock, store: Database): readonly Answer[] {
  const answers: Answer[] = [];
  for (let next = 0; next < turn.length; ) {
    const group = commitsFrom(turn, next);
    answers.push(...commitTogether(group, store));
    const single = group.length === 0 ? turn[next] : undefined;
    if (single?.name === 'backup') backUp(single, store);
    else if (single !== undefined && single.name !== 'commit') answers.push(answered(single, lock, store));
    next += Math.max(1, group.length);
  }
  return answers;
}

type Commit = Extract<Request, { name: 'commit' }>;

function commitsFrom(turn: readonly Request[], start: number): readonly Commit[] {
  const group: Commit[] = [];
  for (const request of turn.slice(start, start + MAX_GROUP)) {
    if (request.name !== 'commit') break;
    group.push(request);
  }
  return group;
}

function commitTogether(group: readonly Commit[], store: Database): readonly Answer[] {
  const results = group.length === 0 ? [] : store.commit(group.map((request) => request.batch));
  return results.map((result, index) => {
    const { id } = group[index] as Commit;
    return result instanceof StoreFault ? failed(id, result) : { id, ok: true, value: result };
  });
}

/** Takes as long as it takes; turns go on meanwhile. */
function backUp({ id, file }: Extract<Request, { name: 'backup' }>, store: Database): void {
  void store.backup(file).then(
    () => say({ kind: 'late', answer: { id, ok: true, value: null } }),
    (error: unknown) => say({ kind: 'late', answer: failed(id, error) }),
  );
}

type Immediate = Exclude<Request, { name: 'commit' | 'backup' }>;

function answered(request: Immediate, lock: StoreLock, store: Database): Answer {
  try {
    return { id: request.id, ok: true, value: valueOf(request, lock, store) };
  } catch (error) {
    return failed(request.id, error);
  }
}

function valueOf(request: Immediate, lock: StoreLock, store: Database): Operations[Immediate['name']]['answer'] {
  switch (request.name) {
    case 'get':
      return store.get(request.key);
    case 'list':
      return store.list(request.query);
    case 'history':
      return store.history(request.query);
    case 'stateVersion':
      return store.stateVersion();
    case 'verifyHistory':
      return store.verifyHistory();
    case 'close':
      store.close();
      lock.release();
      return null;
  }
}

function failed(id: number, error: unknown): Answer {
  return { id, ok: false, fault: faultOf(readFault(error)) };
}

function faultOf({ code, message }: StoreFault): Fault {
  return { code, message };
}
