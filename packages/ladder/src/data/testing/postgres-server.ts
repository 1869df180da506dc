import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** A PostgreSQL server of its own, on a Unix socket only. The programs are Debian's. */
export interface PostgresServer {
  /** The directory of its socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  stop(): void;
}

/** Debian keeps the server's own programs off the path. */
const DEBIAN = '/usr/lib/postgresql';

export function startPostgres(): PostgresServer {
  const version = readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a))[0] ?? '';
  const programs = join(DEBIAN, version, 'bin');
  const root = mkdtempSync(join(tmpdir(), 'idunn-pg-'));
  const asRoot = userInfo().uid === 0;
  // The server refuses to run as root.
  const run = (name: string, ...argv: string[]): void => {
    const program = join(programs, name);
    const [file, all] = asRoot ? ['runuser', ['-u', 'postgres', '--', program, ...argv]] : [program, argv];
    execFileSync(file, all, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  };
  chmodSync(root, 0o755);
  if (asRoot) execFileSync('chown', ['postgres', root]);
  const data = join(root, 'data');
  run('initdb', '-A', 'trust', '-U', 'postgres', '-N', '-D', data);
  const settings = `-k ${root} -c listen_addresses='' -c fsync=off`;
  run('pg_ctl', '-D', data, '-w', '-l', join(root, 'log'), '-o', settings, 'start');
  return {
    host: root,
    port: 5432,
    user: 'postgres',
    stop() {
      run('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop');
      rmSync(root, { recursive: true });
    },
  };
}
