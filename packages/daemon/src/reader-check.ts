import type { DoctorCheck } from '@idunn/client';
import type { GitSource } from '@idunn/drivers';
import { type Outcome, ok } from '@idunn/kernel';
import type { Fleet } from '@idunn/release';
import type { Machine } from './ground.ts';

/** Origins on a disk that does not answer are given up then. */
const PATIENCE_MS = 10_000;
/** The default reader of a machine that has no account for it alone. */
const SHARED = 'nobody';
const OWN_ACCOUNT = 'Run useradd --system --shell /usr/sbin/nologin idunn-reader, and start the daemon again.';

type Git = Pick<GitSource, 'reader' | 'readable'>;

/** Who reads repositories, and whether every origin of the fleet that is on this machine lets itself be read. */
export async function readerCheck(
  { user, timers }: Pick<Machine, 'user' | 'timers'>,
  { bindings }: Pick<Fleet, 'bindings'>,
  git: Git,
): Promise<DoctorCheck> {
  const slow = new AbortController();
  const cancel = timers.after(PATIENCE_MS, () => slow.abort());
  const check = 'git reader';
  const bad = (detail: string, remedy: string): DoctorCheck => ({ check, verdict: 'bad', detail, remedy });
  try {
    const reader = await git.reader(slow.signal);
    if (!reader.ok) return bad(reader.refusal.reason, reader.refusal.remedy);
    const { account } = reader.value;
    const who =
      account === null ? `${user.name}, the daemon's own user` : `${account.name}, user ${account.uid} of this machine`;
    const read = await readAll(git, localOrigins(bindings), slow.signal);
    if (!read.ok) return bad(`repositories are read as ${who}: ${read.refusal.reason}`, read.refusal.remedy);
    const detail = `repositories are read as ${who}; local origins of this fleet, all readable: ${read.value}`;
    if (account?.name !== SHARED) return { check, verdict: 'good', detail, remedy: null };
    return { check, verdict: 'note', detail: `${detail}; other programs may be that user too`, remedy: OWN_ACCOUNT };
  } finally {
    cancel();
  }
}

async function readAll(git: Git, origins: ReadonlySet<string>, signal: AbortSignal): Promise<Outcome<number>> {
  for (const origin of origins) {
    const read = await git.readable(origin, signal);
    if (!read.ok) return read;
  }
  return ok(origins.size);
}

function localOrigins(bindings: Fleet['bindings']): ReadonlySet<string> {
  const all = [...bindings.values()].flatMap(({ binding: { source } }) => [source, ...source.submodule]);
  return new Set(all.map(({ origin }) => origin).filter((origin) => origin.startsWith('/')));
}
