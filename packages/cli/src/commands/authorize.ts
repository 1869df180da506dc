import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Answer, type Authorizations, answered, declined, type RefusalAnswer } from '@idunn/client';
import {
  type Digest,
  isDigest,
  type Json,
  loadKeyFile,
  type Refusal,
  type SigningKey,
  signReleaseAuthorization,
} from '@idunn/kernel';
import { type CommonOptions, type Context, openContext, printJson, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import { authorizationLines } from '../render/authorization.ts';
import { table } from '../render/table.ts';
import { instantMs } from '../when.ts';

export interface AuthorizeOptions extends CommonOptions {
  readonly commit?: string;
  readonly build?: string;
  readonly key?: string;
  readonly from?: string;
  readonly until: string;
  readonly sequence?: number;
  /** Signs for this fleet without asking a daemon, and prints the envelope. */
  readonly for?: string;
  /** A file that holds an envelope which was signed elsewhere. */
  readonly envelope?: string;
  readonly list?: boolean;
}

/** `idunn authorize TARGET`: signs that a commit may be deployed, and has the daemon keep it. */
export async function authorize(environment: Environment, target: string, options: AuthorizeOptions): Promise<number> {
  const json = options.json ?? false;
  const wrong = wrongWords(options);
  if (wrong !== null) {
    refuse(environment, json, wrong);
    return EXIT.usage;
  }
  if (options.for !== undefined) return signFor(environment, target, options.for, options);
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, json, opened.refusal);
  const context = opened.value;
  if (options.list === true) return show(context, context.client.authorizations(target), authorizationTable);
  if (options.envelope !== undefined) {
    const envelope = await envelopeOf(options.envelope);
    return envelope.ok ? submit(context, target, envelope.value) : refuse(environment, json, envelope.refusal);
  }
  const known = await context.client.authorizations(target);
  if (!known.ok) return refuse(environment, json, known.refusal);
  const key = await signingKey(environment, options);
  if (!key.ok) return refuse(environment, json, key.refusal);
  const before = known.value.authorizations.find(({ keyId }) => keyId === key.value.keyId);
  const sequence = options.sequence ?? (before?.sequence ?? 0) + 1;
  return submit(context, target, signed(environment, key.value, known.value.fleet, target, sequence, options));
}

function wrongWords({ commit, envelope, list, sequence, for: fleet }: AuthorizeOptions): RefusalAnswer | null {
  const asked = [commit, envelope, list].filter((word) => word !== undefined).length;
  const reason =
    asked !== 1
      ? 'one of --commit, --envelope and --list says what is wanted'
      : fleet !== undefined && (commit === undefined || sequence === undefined)
        ? '--for signs without a daemon, so it needs --commit and --sequence'
        : null;
  return reason === null ? null : { code: 'words-invalid', reason, remedy: 'Run idunn authorize --help.' };
}

async function signFor(
  environment: Environment,
  target: string,
  fleet: string,
  options: AuthorizeOptions,
): Promise<number> {
  const key = await signingKey(environment, options);
  if (!key.ok) return refuse(environment, options.json ?? false, key.refusal);
  printJson(environment, signed(environment, key.value, fleet, target, options.sequence ?? 0, options));
  return EXIT.done;
}

function signed(
  environment: Environment,
  key: SigningKey,
  fleet: string,
  target: string,
  sequence: number,
  { commit = '', build, from, until }: AuthorizeOptions,
): Json {
  const now = environment.nowMs();
  const envelope = signReleaseAuthorization(
    {
      fleet,
      target,
      commit,
      build: buildOf(build),
      notBeforeMs: from === undefined ? now : instantMs(from, now),
      notAfterMs: instantMs(until, now),
      sequence,
      requestId: environment.freshId('auth'),
    },
    key,
  );
  return { ...envelope, signatures: envelope.signatures.map((signature) => ({ ...signature })) };
}

const buildOf = (text: string | undefined): Digest | null => (text !== undefined && isDigest(text) ? text : null);

/** The key's own file where none is named: beside the fleet's configuration of this user. */
export const defaultKeyFile = (environment: Environment): string =>
  join(environment.variable('XDG_CONFIG_HOME') ?? join(environment.home, '.config'), 'idunn', 'authorizer');

async function signingKey(environment: Environment, options: AuthorizeOptions): Promise<Answer<SigningKey>> {
  const file = options.key ?? defaultKeyFile(environment);
  const key = await loadKeyFile(file, { purpose: 'release-authorization', wallMs: environment.nowMs() });
  return key.ok ? answered(key.value.signingKey) : { ok: false, refusal: plain(key.refusal) };
}

/** A refusal of a key file as one of the command's own. */
export const plain = ({ code, reason, remedy }: Refusal): RefusalAnswer => ({ code, reason, remedy });

async function envelopeOf(file: string): Promise<Answer<Json>> {
  try {
    return answered(JSON.parse(await readFile(file, 'utf8')) as Json);
  } catch (error) {
    const reason = `${file} holds no envelope: ${error instanceof Error ? error.message : String(error)}`;
    return declined('envelope-malformed', reason, 'Name the file that idunn authorize --for wrote.');
  }
}

const submit = (context: Context, target: string, envelope: Json): Promise<number> =>
  show(context, context.client.authorize(target, envelope as never), authorizationLines);

const authorizationTable = ({ authorizers, authorizations, current, refusal, target }: Authorizations): string[] => [
  ...table([
    ['', 'commit', 'until', 'sequence', 'key id'],
    ...authorizations.map((one) => [
      one.digest === current ? '→' : '',
      one.commit,
      one.notAfter,
      `${one.sequence}`,
      one.keyId,
    ]),
  ]),
  ...(refusal === null ? [] : [`nothing can be deployed by them: ${refusal.reason}`, refusal.remedy]),
  `${target} is authorized by ${authorizers.map(({ keyId }) => keyId).join(', ') || 'nobody'}`,
];
