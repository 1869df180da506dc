import { readFileSync, statSync } from 'node:fs';

/** Where SQLite locks a WAL index for its one writer (the WAL-index lock WAL_WRITE_LOCK). */
const WRITE_LOCK_BYTE = 120;

/**
 * Who holds the write lock of a WAL database: process ids as `locks`, the text of /proc/locks, tells them. Locks of
 * other pid namespaces have none and are left out. `device` and `inode` are those of the `-shm` file.
 */
export function writersIn(
  locks: string,
  { device, inode }: { readonly device: { major: number; minor: number }; readonly inode: number },
): readonly number[] {
  return locks.split('\n').flatMap((line) => {
    // 1: POSIX  ADVISORY  WRITE 4711 fe:00:123456 120 120
    const [, , , kind, pid = '', file = '', from = '', to = ''] = line.trim().split(/\s+/);
    const [major = '', minor = '', node = ''] = file.split(':');
    const isFile =
      Number.parseInt(major, 16) === device.major &&
      Number.parseInt(minor, 16) === device.minor &&
      Number(node) === inode;
    const covers = Number(from) <= WRITE_LOCK_BYTE && (to === 'EOF' || Number(to) >= WRITE_LOCK_BYTE);
    return kind === 'WRITE' && isFile && covers && Number(pid) > 0 ? [Number(pid)] : [];
  });
}

/** Who holds the write lock of this database now; empty when it cannot be told. */
export function writersOf(path: string): readonly number[] {
  try {
    const { dev, ino } = statSync(`${path}-shm`);
    const device = { major: (dev >> 8) & 0xfff, minor: (dev & 0xff) | ((dev >> 12) & 0xfff00) };
    return writersIn(readFileSync('/proc/locks', 'utf8'), { device, inode: ino });
  } catch {
    return [];
  }
}
