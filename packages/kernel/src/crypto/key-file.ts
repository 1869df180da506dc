import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { canonicalJson } from '../canonical.ts';
import { type Outcome, ok, refusal, refused } from '../refusal.ts';
import { readPlainFile } from '../system/plain-file.ts';
import type { SigningKey } from './envelope.ts';
import {
  base64Of32Bytes,
  freshSeed,
  type KeyPurpose,
  type KeyRecord,
  type KeyUse,
  keyRecordSchema,
  publicKeyOf,
  signingKeyFromSeed,
  usableKey,
} from './keys.ts';

/**
 * A key on disk is two files: the private part, one line of base64 in a 0600 file, and beside it the public record,
 * which is written last: a key is whole when its record is there.
 */
export interface KeyFile {
  readonly record: KeyRecord;
  readonly signingKey: SigningKey;
}

/** Largest public record that is read. */
const MAX_RECORD_BYTES = 4096;

/** The file of a key's public record: beside the private file, with `.json` after its name. */
export const keyRecordPath = (file: string): string => `${file}.json`;

/**
 * Makes a key: both files complete or not there, neither ever replaced. A creation that was interrupted between the two
 * is finished with the seed that is there. Refused as `key-exists` when the key is whole, `key-readable-by-others` or
 * `key-malformed` when what is there is not ours to finish.
 */
export async function createKeyFile(
  file: string,
  key: { readonly purpose: KeyPurpose; readonly notBeforeMs: number; readonly notAfterMs: number },
): Promise<Outcome<KeyFile>> {
  const exists = refused(refusal('key-exists', `There is a key in ${file} already.`));
  if (await isThere(keyRecordPath(file))) return exists;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const written = await writeSeedFile(file, freshSeed());
  if (!written.ok && written.refusal.code !== 'key-exists') return written;
  const signingKey = written.ok ? written : await readSeedFile(file);
  if (!signingKey.ok) return signingKey;
  const record: KeyRecord = {
    schema: 'idunn.key/v1',
    keyId: signingKey.value.keyId,
    publicKey: publicKeyOf(signingKey.value.privateKey),
    purpose: key.purpose,
    notBefore: new Date(key.notBeforeMs).toISOString(),
    notAfter: new Date(key.notAfterMs).toISOString(),
    retiredAt: null,
  };
  if ((await writeNew(keyRecordPath(file), `${canonicalJson(record)}\n`, 0o644)) === 'exists') return exists;
  return ok({ record, signingKey: signingKey.value });
}

/**
 * Loads a key for signing now; `wallMs` is left out for what is the machine's own. Refused as `key-missing`,
 * `key-readable-by-others` (group or other bits, or another owner), `key-malformed`, `key-wrong-purpose`,
 * `key-not-yet-valid`, `key-expired` or `key-retired`.
 */
export async function loadKeyFile(
  file: string,
  want: { readonly purpose: KeyPurpose; readonly wallMs?: number },
): Promise<Outcome<KeyFile>> {
  const signingKey = await readSeedFile(file);
  if (!signingKey.ok) return signingKey;
  const record = await loadKeyRecord(keyRecordPath(file));
  if (!record.ok) return record;
  if (record.value.keyId !== signingKey.value.keyId) {
    return malformed(file, 'its public record is of another key');
  }
  const use: KeyUse = want.wallMs === undefined ? { kind: 'own' } : { kind: 'now', wallMs: want.wallMs };
  const usable = usableKey(record.value, want.purpose, use);
  return usable.ok ? ok({ record: record.value, signingKey: signingKey.value }) : usable;
}

/**
 * Writes a private part alone, as an activation directory carries it. Refused as `key-exists`; throws `TypeError` for
 * what is no seed.
 */
export async function writeSeedFile(file: string, seedBase64: string): Promise<Outcome<SigningKey>> {
  const signingKey = signingKeyFromSeed(seedBase64);
  if ((await writeNew(file, `${seedBase64}\n`, 0o600)) === 'exists') {
    return refused(refusal('key-exists', `There is a key in ${file} already.`));
  }
  return ok(signingKey);
}

/** Reads a public record. Refused as `key-missing` or `key-malformed`. */
export async function loadKeyRecord(file: string): Promise<Outcome<KeyRecord>> {
  let bytes: Buffer | null;
  try {
    bytes = await readPlainFile(file, { limitBytes: MAX_RECORD_BYTES });
  } catch (error) {
    return malformed(file, (error as Error).message);
  }
  if (bytes === null) return refused(refusal('key-missing', `There is no public key record ${file}.`));
  try {
    const parsed = keyRecordSchema.safeParse(JSON.parse(bytes.toString('utf8')));
    return parsed.success
      ? ok(parsed.data)
      : malformed(file, parsed.error.issues[0]?.message ?? 'it has another shape');
  } catch {
    return malformed(file, 'it is no JSON');
  }
}

/**
 * Reads a private part through one descriptor, so that what was checked is what is read. Refused as `key-missing`,
 * `key-readable-by-others` (group or other bits, or another owner) or `key-malformed`.
 */
export async function readSeedFile(file: string): Promise<Outcome<SigningKey>> {
  const handle = await openUnlessAbsent(file);
  if (handle === 'absent') return refused(refusal('key-missing', `There is no key file ${file}.`));
  if (handle === 'link') return malformed(file, 'it is a symbolic link');
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return malformed(file, 'it is not a regular file');
    if ((stat.mode & 0o077) !== 0 || stat.uid !== process.geteuid?.()) {
      const mode = (stat.mode & 0o777).toString(8);
      return refused(
        refusal('key-readable-by-others', `Key file ${file} has mode ${mode} and belongs to user ${stat.uid}.`),
      );
    }
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    const seed = buffer.toString('latin1', 0, bytesRead).replace(/\n$/, '');
    if (!base64Of32Bytes.safeParse(seed).success) return malformed(file, 'it is not one line of 32 bytes in base64');
    return ok(signingKeyFromSeed(seed));
  } finally {
    await handle.close();
  }
}

const malformed = (file: string, because: string): Outcome<never> =>
  refused(refusal('key-malformed', `Key file ${file} cannot be used: ${because}.`));

const isThere = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    (error: unknown) => {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    },
  );

async function openUnlessAbsent(file: string) {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'absent';
    if (hasCode(error, 'ELOOP')) return 'link';
    throw error;
  }
}

/** Writes a file that was not there, whole or not at all, and makes it durable: a link from a finished neighbour. */
async function writeNew(file: string, text: string, mode: number): Promise<'written' | 'exists'> {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(8).toString('hex')}.draft`);
  const handle = await open(draft, 'wx', mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
    await link(draft, file);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return 'exists';
    throw error;
  } finally {
    await handle.close();
    await unlink(draft);
  }
  const directory = await open(dirname(file), constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
  return 'written';
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
