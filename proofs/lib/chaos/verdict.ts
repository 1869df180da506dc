import { DatabaseSync } from 'node:sqlite';
import { GARBAGE } from './programs.ts';

export interface Note {
  readonly id: string;
  /** The process that wrote it. */
  readonly writer: string;
}

export interface NotesVerdict {
  readonly notes: number;
  readonly writers: number;
  readonly lost: number;
  readonly doubled: number;
  /** Notes of a process that stand after those of a later one: it wrote though it was fenced. */
  readonly late: number;
  readonly garbage: number;
}

/** Every note in the order in which SQLite took it. */
export function readNotes(file: string): readonly Note[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare('SELECT id, writer FROM notes ORDER BY seq').all() as unknown as readonly Note[];
  } finally {
    database.close();
  }
}

/** Holds what stands in the database against what was acknowledged. */
export function judgeNotes(notes: readonly Note[], acked: readonly { readonly id: string }[]): NotesVerdict {
  const times = new Map<string, number>();
  const gone = new Set<string>();
  let late = 0;
  let current: string | null = null;
  for (const { id, writer } of notes) {
    times.set(id, (times.get(id) ?? 0) + 1);
    if (gone.has(writer)) late += 1;
    else if (writer !== current) {
      if (current !== null) gone.add(current);
      current = writer;
    }
  }
  return {
    notes: notes.length,
    writers: new Set(notes.map(({ writer }) => writer)).size,
    lost: acked.filter(({ id }) => !times.has(id)).length,
    doubled: [...times.values()].filter((count) => count > 1).length,
    late,
    garbage: notes.filter(({ id, writer }) => id.startsWith(GARBAGE) || writer === GARBAGE).length,
  };
}
