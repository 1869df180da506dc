import type { KeyAnswer } from '@idunn/client';
import { createKeyFile, type KeyRecord, keyRecordPath, loadKeyRecord } from '@idunn/kernel';
import { type CommonOptions, openContext, printJson, printLines, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import { table } from '../render/table.ts';
import { instantMs } from '../when.ts';
import { defaultKeyFile, plain } from './authorize.ts';

/** `idunn key list`: the public halves of the fleet's keys. */
export async function listKeys(environment: Environment, options: CommonOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { client, style } = opened.value;
  return show(opened.value, client.keys(), ({ keys, unreadable }) =>
    table([
      ['name', 'purpose', 'key id', 'public key'].map(style.dim),
      ...keys.map(({ name, purpose, keyId, publicKey }) => [name, purpose, keyId, publicKey]),
      ...unreadable.map(({ name, refusal }) => [name, 'unknown', refusal.code, refusal.reason]),
    ]),
  );
}

/** `idunn key show NAME`. The private half is never shown: it is a file that only its owner reads. */
export async function showKey(environment: Environment, name: string, options: CommonOptions): Promise<number> {
  if (/^(?:\.{0,2}|~)\//.test(name)) return showKeyFile(environment, name, options);
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const answer = await opened.value.client.keys();
  if (!answer.ok) return refuse(environment, options.json ?? false, answer.refusal);
  const key = answer.value.keys.find((one) => one.name === name);
  const unreadable = answer.value.unreadable.find((one) => one.name === name)?.refusal;
  const missing = { code: 'key-unknown', reason: `the fleet has no key ${name}`, remedy: 'Run idunn key list.' };
  const found =
    key === undefined
      ? { ok: false as const, refusal: unreadable ?? missing }
      : { ok: true as const, value: { schema: 'idunn.key/v1', ...key } };
  return show(opened.value, Promise.resolve(found), keyLines);
}

/** `idunn key create TARGET`: the service signer of a target, ahead of its first `up`. */
export async function createKey(environment: Environment, target: string, options: CommonOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  return show(opened.value, opened.value.client.createKey(target), keyLines);
}

/** The public half of a key that a person keeps. */
async function showKeyFile(environment: Environment, file: string, options: CommonOptions): Promise<number> {
  const record = await loadKeyRecord(keyRecordPath(file));
  return record.ok
    ? printKey(environment, file, record.value, options)
    : refuse(environment, options.json ?? false, plain(record.refusal));
}

/** `idunn key authorizer [FILE]`: a key that authorizes releases. The daemon never sees its private half. */
export async function createAuthorizer(
  environment: Environment,
  named: string | undefined,
  options: CommonOptions & { readonly until: string },
): Promise<number> {
  const file = named ?? defaultKeyFile(environment);
  const notBeforeMs = environment.nowMs();
  const notAfterMs = instantMs(options.until, notBeforeMs);
  if (notAfterMs <= notBeforeMs) {
    const reason = `--until ${options.until} is over already`;
    refuse(environment, options.json ?? false, { code: 'words-invalid', reason, remedy: 'Name a later moment.' });
    return EXIT.usage;
  }
  const made = await createKeyFile(file, { purpose: 'release-authorization', notBeforeMs, notAfterMs });
  if (!made.ok) return refuse(environment, options.json ?? false, plain(made.refusal));
  const code = printKey(environment, file, made.value.record, options);
  if (options.json !== true) {
    printLines(environment.out, ['', `In the binding: authorizers = ["${made.value.record.publicKey}"]`]);
  }
  return code;
}

function printKey(environment: Environment, name: string, record: KeyRecord, { json }: CommonOptions): number {
  const { purpose, keyId, publicKey, notBefore: createdAt } = record;
  const key: KeyAnswer = { name, purpose, keyId, publicKey, createdAt };
  if (json === true) printJson(environment, { schema: 'idunn.key/v1', ...key });
  else printLines(environment.out, keyLines(key));
  return EXIT.done;
}

const keyLines = ({ name, purpose, keyId, publicKey, createdAt }: KeyAnswer): string[] =>
  table([
    ['name', name],
    ['purpose', purpose],
    ['key id', keyId],
    ['public key', publicKey],
    ['created', createdAt ?? 'not recorded'],
  ]);

/** `idunn key rotate`: not offered yet, and said so rather than half done. */
export const refuseRotation = (environment: Environment, name: string, options: CommonOptions): number =>
  refuse(environment, options.json ?? false, {
    code: 'key-rotation-unavailable',
    reason: `the key ${name} cannot be rotated yet`,
    remedy: 'Keep the key; if it leaked, bind the service as a new target, which has a new signer.',
  });
