import { ok } from '@idunn/kernel';
import type { AppData } from '../data/app-data.ts';
import { directoryData } from '../data/directory.ts';
import { postgresData } from '../data/postgres.ts';
import { sqliteData } from '../data/sqlite.ts';
import { NOTHING_RUNS, type Standing } from '../data/standing.ts';
import type { ReleaseOperations } from '../operations/port.ts';
import type { DataPlace } from './schema.ts';

/** How long a slot may take to fall asleep or wake around a load. */
export const STANDSTILL_MS = 10 * 60_000;

/** The data of one slot, as its place says; `operations` put it to sleep where it asks for that. */
export function dataAt(place: DataPlace, operations: ReleaseOperations | null): AppData {
  const { description } = place;
  const standing = place.standstill === 'sleep' && operations !== null ? asleep(operations) : NOTHING_RUNS;
  switch (place.kind) {
    case 'sqlite':
      return sqliteData({
        description,
        standing,
        locate: () => place.path,
        neutralise: place.neutralise,
        ...(place.watermark === undefined ? {} : { watermark: marks(place.watermark) }),
      });
    case 'directory':
      return directoryData({ description, standing, locate: () => place.path });
    case 'postgres': {
      const { host, port, user, database, password_file: passwordFile } = place;
      const connection = { host, port, user, database, ...(passwordFile === undefined ? {} : { passwordFile }) };
      return postgresData({
        description,
        standing,
        locate: () => connection,
        neutralise: place.neutralise,
        ...(place.watermark === undefined ? {} : { watermark: marks(place.watermark) }),
      });
    }
  }
}

type Marks = NonNullable<Extract<DataPlace, { kind: 'sqlite' }>['watermark']>;

const marks = ({ mark, count }: Marks) => ({ count, ...(mark === undefined ? {} : { mark }) });

const asleep = (operations: ReleaseOperations): Standing => ({
  async stop(clearance, { namespace }) {
    const slept = await operations.sleep(clearance, { namespace, deadlineMs: STANDSTILL_MS });
    return slept.ok ? ok(null) : slept;
  },
  start: (clearance, { namespace }) => operations.wake(clearance, { namespace, deadlineMs: STANDSTILL_MS }),
});
