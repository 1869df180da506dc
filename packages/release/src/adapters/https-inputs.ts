import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { type Digest, type Ids, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { PinnedInput } from '../model/plan.ts';
import type { InputPort } from '../ports/input-port.ts';
import { stagePaths } from '../source/stage-paths.ts';
import { absentAsNull, digestFile, isErrno, syncPath } from './files.ts';

const REDIRECTS_LIMIT = 5;
/** A server that says nothing for so long is given up. */
const SILENCE_MS = 30_000;
const DISK_ERRORS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EFBIG']);

export interface InputOptions {
  /** Content-addressed: `<cache>/<64 hexadecimal digits>`. */
  readonly cache: string;
  readonly stages: string;
  readonly ids: Ids;
  /** Certificates to trust in place of the system's, in PEM. */
  readonly ca?: string;
}

export function createHttpsInputs({ cache, stages, ids, ca }: InputOptions): InputPort {
  const fetching = new Map<Digest, SharedFetch>();

  /** One fetch of a digest at a time. Whoever wants it waits for it; it is withdrawn when nobody waits any more. */
  async function fetchOnce(input: PinnedInput, signal: AbortSignal): Promise<Outcome<'kept'>> {
    if (signal.aborted) return withdrawn(input);
    const shared = fetching.get(input.sha256) ?? begin(input);
    shared.waiting += 1;
    const { promise, resolve } = Promise.withResolvers<Outcome<'kept'>>();
    const leave = (): void => resolve(withdrawn(input));
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([shared.outcome, promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      shared.waiting -= 1;
      if (shared.waiting === 0) shared.end();
    }
  }

  function begin(input: PinnedInput): SharedFetch {
    const controller = new AbortController();
    const shared: SharedFetch = {
      outcome: keep(input, controller.signal).finally(() => shared.forget()),
      waiting: 0,
      forget: () => void (fetching.get(input.sha256) === shared && fetching.delete(input.sha256)),
      end: () => {
        shared.forget();
        controller.abort();
      },
    };
    fetching.set(input.sha256, shared);
    return shared;
  }

  const kept = (digest: Digest): string => join(cache, digest.slice('sha256:'.length));

  async function keep(input: PinnedInput, signal: AbortSignal): Promise<Outcome<'kept'>> {
    await mkdir(cache, { recursive: true, mode: 0o700 });
    const partial = join(cache, `.${ids.fresh('partial')}`);
    try {
      const fetched = await download(input, partial, { signal, ca });
      if (!fetched.ok) return fetched;
      await chmod(partial, 0o400);
      await rename(partial, kept(input.sha256));
      await syncPath(cache);
      return ok('kept');
    } finally {
      await rm(partial, { force: true });
    }
  }

  return {
    async place(input, stage, signal) {
      const target = join(stagePaths(stages, stage).inputs, input.id);
      if ((await digestFile(target).catch(absentAsNull)) === input.sha256) return ok({ fetched: false });
      await rm(target, { force: true });
      let fetched = false;
      // A kept file that no longer has its digest is fetched again.
      if ((await digestFile(kept(input.sha256)).catch(absentAsNull)) !== input.sha256) {
        const answer = await fetchOnce(input, signal);
        if (!answer.ok) return answer;
        fetched = true;
      }
      await copyFile(kept(input.sha256), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await chmod(target, 0o444);
      if ((await digestFile(target)) === input.sha256) return ok({ fetched });
      return refused(
        refusal('input-digest-mismatch', `The copy of input ${input.id} in the stage is not what was fetched.`),
      );
    },
  };
}

/** A fetch under way, and how many wait for it. */
interface SharedFetch {
  readonly outcome: Promise<Outcome<'kept'>>;
  waiting: number;
  readonly forget: () => void;
  readonly end: () => void;
}

const withdrawn = (input: PinnedInput): Outcome<never> =>
  refused(refusal('work-aborted', `The fetch of input ${input.id} was withdrawn.`));

interface Download {
  readonly signal: AbortSignal;
  readonly ca: string | undefined;
}

async function download(input: PinnedInput, path: string, options: Download): Promise<Outcome<'fetched'>> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  try {
    const response = await follow(input.url, options, REDIRECTS_LIMIT);
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > input.maxBytes) {
        response.destroy();
        return refused(
          refusal('input-too-large', `Input ${input.id} is larger than its max_bytes of ${input.maxBytes}.`),
        );
      }
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } catch (error) {
    if (options.signal.aborted) return withdrawn(input);
    // A disk that refuses is not the server's fault (F28).
    if (!(error instanceof Error) || (isErrno(error) && DISK_ERRORS.has(error.code ?? ''))) throw error;
    return refused(
      refusal('input-unreachable', `Input ${input.id} could not be fetched from ${input.url}: ${error.message}.`),
    );
  } finally {
    await file.close();
  }
  const digest: Digest = `sha256:${hash.digest('hex')}`;
  if (digest === input.sha256) return ok('fetched');
  const reason = `Input ${input.id} from ${input.url} has the digest ${digest}, the recipe pins ${input.sha256}.`;
  return refused(refusal('input-digest-mismatch', reason));
}

async function follow(url: string, options: Download, redirects: number): Promise<IncomingMessage> {
  const response = await request(new URL(url), options);
  const { statusCode = 0, headers } = response;
  if (statusCode === 200) return response;
  response.destroy();
  if (statusCode < 300 || statusCode > 399 || headers.location === undefined)
    throw new Error(`the server answered ${statusCode}`);
  if (redirects === 0) throw new Error(`more than ${REDIRECTS_LIMIT} redirects`);
  const next = new URL(headers.location, url);
  if (next.protocol !== 'https:') throw new Error(`the server redirects to ${next.protocol}//, only https is followed`);
  return follow(next.href, options, redirects - 1);
}

function request(url: URL, { signal, ca }: Download): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = get(
      url,
      {
        signal,
        agent: false,
        timeout: SILENCE_MS,
        headers: { 'user-agent': 'idunn', 'accept-encoding': 'identity' },
        ...(ca === undefined ? {} : { ca }),
      },
      resolve,
    );
    outgoing.once('error', reject);
    outgoing.once('timeout', () => outgoing.destroy(new Error(`the server said nothing for ${SILENCE_MS} ms`)));
  });
}
