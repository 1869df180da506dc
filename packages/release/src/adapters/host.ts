import { constants } from 'node:fs';
import { access, lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { absent, type Digest, type Evidence, seen, unknown } from '@idunn/kernel';
import type { HostFacts, HostQuestions, Lineage } from '../plan/host-facts.ts';
import type { HostPort } from '../ports/host-port.ts';
import { accountOf, groupOf, uidOf } from './accounts.ts';
import type { DigestMemo } from './digest-memo.ts';
import { absentAsNull, isErrno } from './files.ts';

export interface HostOptions {
  readonly digests: DigestMemo;
  /** The user that Idunn runs as. */
  readonly uid: number;
  /** The enrolled signer's public half. */
  readonly signer: (target: string) => Promise<Evidence<{ readonly keyId: string; readonly publicKey: string }>>;
}

/** Looks at this machine. */
export function createHost({ digests, uid, signer }: HostOptions): HostPort {
  return {
    async look(questions: HostQuestions): Promise<HostFacts> {
      return {
        interpreters: await each(questions.interpreters, (path) => interpreter(path, digests)),
        programs: await each(questions.programs, program),
        secrets: await each(questions.secrets, (path) => secret(path, uid)),
        directories: await each(questions.directories, async (path) => seen(await lineage(path))),
        mounts: await each(questions.mounts, async (path) => seen(await existing(await realpath(path)))),
        users: await each(questions.users, uidOf),
        accounts: await each(questions.accounts ?? [], accountOf),
        groups: await each(questions.groups ?? [], groupOf),
        uid,
        signer: await signer(questions.target),
      };
    },
  };
}

async function each<T>(
  paths: readonly string[],
  look: (path: string) => Promise<Evidence<T>>,
): Promise<Record<string, Evidence<T>>> {
  const answers = [...new Set(paths)].map(async (path) => [path, await look(path).catch(asEvidence)] as const);
  return Object.fromEntries(await Promise.all(answers));
}

/** Only "no such file" is absence; everything else is unknown (I10). */
function asEvidence(error: unknown): Evidence<never> {
  if (isErrno(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return absent;
  if (error instanceof Error) return unknown(error.message);
  throw error;
}

async function interpreter(path: string, digests: DigestMemo): Promise<Evidence<Digest>> {
  const executable = await program(path);
  if (executable.kind !== 'seen') return executable;
  return executable.value === 'executable' ? seen(await digests.digest(await realpath(path))) : absent;
}

async function program(path: string): Promise<Evidence<'executable' | 'not-executable'>> {
  if (!(await stat(path)).isFile()) return seen('not-executable');
  return seen(
    await access(path, constants.X_OK).then(
      () => 'executable' as const,
      () => 'not-executable' as const,
    ),
  );
}

async function secret(path: string, uid: number): Promise<Evidence<'private' | 'readable-by-others' | 'not-a-file'>> {
  const file = await stat(path);
  if (!file.isFile()) return seen('not-a-file');
  const own = file.uid === uid || file.uid === 0;
  return seen(own && (file.mode & 0o077) === 0 ? 'private' : 'readable-by-others');
}

async function lineage(path: string): Promise<Lineage> {
  const real = await realpath(path).catch(absentAsNull);
  if (real !== null) return existing(real);
  if ((await lstat(path).catch(absentAsNull)) !== null) throw new Error(`${path} is a link that leads nowhere`);
  const above = await lineage(dirname(path));
  return [`${above[0]}/${basename(path)}`, ...above];
}

async function existing(real: string): Promise<Lineage> {
  const { dev, ino } = await stat(real, { bigint: true });
  const identity = `${dev}:${ino}`;
  return real === '/' ? [identity] : [identity, ...(await existing(dirname(real)))];
}
