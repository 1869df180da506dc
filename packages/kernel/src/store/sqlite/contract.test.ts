import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../system/clock.ts';
import { recordStoreContract } from '../../testing/record-store-contract.ts';
import { openRecordStore } from './open.ts';

recordStoreContract('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-store-'));
  return {
    open: (kinds) => openRecordStore({ file: join(directory, 'records.db'), kinds, clock: systemClock() }),
    dispose: () => rm(directory, { recursive: true }),
  };
});
