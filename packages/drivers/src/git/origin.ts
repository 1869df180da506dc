import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { closedTo, foreign, unreadable, unreadableIn } from './barred.ts';
import { makeCache } from './cache.ts';
import { transportOf } from './command.ts';
import { formatOf } from './objects.ts';
import type { Way } from './opening.ts';
import type { Git } from './process.ts';
import { firstShut, wayTo } from './way.ts';

const REFS_LIMIT_BYTES = 1_048_576;
/** Where the admitted ref is kept in an object cache. */
export const HEAD = 'refs/idunn/head';

export interface Origin {
  readonly origin: string;
  readonly ref: string;
}

/** Brings the ref's history into a bare object cache; nothing is transferred when it is there already. */
export async function fetchHead(
  git: Git,
  directory: string,
  { origin, ref }: Origin,
  signal: AbortSignal,
): Promise<Outcome<'fetched'>> {
  const words = [
    'fetch',
    '--quiet',
    '--force',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    '--end-of-options',
    origin,
    `+${ref}:${HEAD}`,
  ];
  const found = await wayTo(git, origin, signal);
  if (!found.ok) return found;
  const way = found.value;
  const fetch = () => git.run({ directory, transport: transportOf(origin), way, words, signal }, REFS_LIMIT_BYTES);
  // An origin that was read before is asked once: what a fetch asks for first is the ref (F1).
  if (existsSync(join(directory, 'HEAD'))) {
    const again = await fetch();
    if (isShallow(again.stderr)) return shallow(origin);
    if (again.exit === 0) return ok('fetched');
  }
  // Before the first fetch, and whenever one failed, the origin's own word says how it stands.
  const head = await remoteHead(git, { origin, ref }, way, signal);
  if (!head.ok) return head;
  await makeCache(directory, git.reader.account);
  const format = formatOf(head.value);
  const init = ['init', '--bare', '--quiet', '--template=', `--object-format=${format}`, '--end-of-options', directory];
  const made = await git.run({ directory: null, words: init, signal }, 256);
  if (made.exit !== 0) return unreachable(origin, made.stderr, signal);
  const fetched = await fetch();
  if (isShallow(fetched.stderr)) return shallow(origin);
  return fetched.exit === 0 ? ok('fetched') : unread(git, origin, way, fetched.stderr, signal);
}

/** Whether a local origin gives its refs out. */
export async function readable(git: Git, origin: string, signal: AbortSignal): Promise<Outcome<'readable'>> {
  const transport = transportOf(origin);
  if (transport !== 'file') return ok('readable');
  const way = await wayTo(git, origin, signal);
  if (!way.ok) return way;
  const words = ['ls-remote', '--quiet', '--end-of-options', origin, 'HEAD'];
  const call = { directory: '/nonexistent', transport, way: way.value, words, signal };
  const { exit, stderr } = await git.run(call, REFS_LIMIT_BYTES);
  return exit === 0 ? ok('readable') : unread(git, origin, way.value, stderr, signal);
}

/** What the origin says the ref is; asked before anything is fetched (F1). */
async function remoteHead(git: Git, { origin, ref }: Origin, way: Way, signal: AbortSignal): Promise<Outcome<string>> {
  const words = ['ls-remote', '--quiet', '--end-of-options', origin, ref];
  const call = { directory: '/nonexistent', transport: transportOf(origin), way, words, signal };
  const { exit, stdout, stderr } = await git.run(call, REFS_LIMIT_BYTES);
  if (exit !== 0) return unread(git, origin, way, stderr, signal);
  for (const line of stdout.toString('utf8').split('\n')) {
    const [id, name] = line.split('\t');
    if (name === ref && id !== undefined) return ok(id);
  }
  return refused(refusal('source-ref-missing', `${origin} has no ${ref}.`));
}

/** Git leaves the ref as it was, says so, and exits with 0. */
const isShallow = (stderr: string): boolean => /because shallow roots are not allowed to be updated/.test(stderr);

const shallow = (origin: string): Outcome<never> =>
  refused(refusal('source-shallow', `${origin} is a shallow repository: it does not hold the history of its commits.`));

export const withdrawn = (origin: string): Outcome<never> =>
  refused(refusal('work-aborted', `Reading ${origin} was withdrawn.`));

/** Why an origin was not read, with what keeps the reader from it where something does. */
async function unread(
  git: Git,
  origin: string,
  { repository, opening }: Way,
  stderr: string,
  signal: AbortSignal,
): Promise<Outcome<never>> {
  const { account } = git.reader;
  if (account !== null && !signal.aborted) {
    if (opening !== null && stderr.startsWith('bwrap:')) return closedTo(account, opening.closed, origin, true, stderr);
    if (repository === null) return unreachable(origin, stderr, signal, account.name);
    const barred = await unreadableIn(repository, origin, account, stderr);
    if (barred !== null) return barred;
    const mayBeShut = opening === null && !isForeign(stderr);
    const shut = mayBeShut ? await firstShut(git, repository, signal) : null;
    if (shut?.kind === 'directory') return closedTo(account, shut.path, origin, false, stderr);
    if (shut?.kind === 'part') return unreadable(account, shut.path, { repository, origin }, stderr);
  }
  return unreachable(origin, stderr, signal, account?.name);
}

const isForeign = (stderr: string): boolean => /detected dubious ownership/.test(stderr);

/** `reader`: the account that read, where it is not the daemon's own. */
export function unreachable(origin: string, stderr: string, signal: AbortSignal, reader?: string): Outcome<never> {
  if (signal.aborted) return withdrawn(origin);
  if (isForeign(stderr)) return foreign(origin, stderr);
  const [first = 'git gave no reason'] = stderr.split('\n');
  const by = reader === undefined ? '' : ` as ${reader}`;
  return refused(refusal('source-unreachable', `${origin} could not be read${by}: ${first}`, { detail: { stderr } }));
}
