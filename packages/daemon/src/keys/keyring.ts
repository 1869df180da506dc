import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyAnswer, Keys } from '@idunn/client';
import {
  type Clock,
  createKeyFile,
  type KeyFile,
  type KeyPurpose,
  type KeyRecord,
  keyRecordPath,
  loadKeyFile,
  loadKeyRecord,
  type Outcome,
  ok,
  refusal,
  refused,
} from '@idunn/kernel';

/** How long a key made here is valid: rotation is a deed of the operator, not an outage of ours. */
const VALIDITY_MS = 10 * 365 * 24 * 60 * 60 * 1_000;

/**
 * The fleet's own keys, as 0600 files under `<state>/keys`: the authority's, and one service signer for each target.
 */
export interface Keyring {
  /** The authority's key; made when there is none. */
  authority(): Promise<Outcome<KeyFile>>;
  /** A target's service signer. Refused as `key-missing` when its binding was never admitted. */
  signer(target: string): Promise<Outcome<KeyFile>>;
  /** The signer, made now if the target has none: the admission of a binding. */
  admit(target: string): Promise<Outcome<KeyFile>>;
  /** Makes a signer ahead of the first plan; refused as `key-exists` when there is one. */
  create(target: string): Promise<Outcome<KeyFile>>;
  /** The public signers of a target that this daemon has loaded or made, for whoever must answer at once. */
  anchors(target: string): readonly { readonly keyId: string; readonly publicKey: string }[];
  /** Every key, those that cannot be read among them (I10). */
  list(): Promise<Omit<Keys, 'schema'>>;
}

export function openKeyring(state: string, clock: Clock): Keyring {
  const directory = join(state, 'keys');
  const signers = join(directory, 'signers');
  const authorityFile = join(directory, 'authority');
  const signerFile = (target: string): string => join(signers, target);

  const known = new Map<string, { readonly keyId: string; readonly publicKey: string }>();
  const remember = (target: string, key: Outcome<KeyFile>): Outcome<KeyFile> => {
    if (key.ok) known.set(target, { keyId: key.value.record.keyId, publicKey: key.value.record.publicKey });
    return key;
  };
  /** Whatever the wall clock says: a machine may start without its time, and nothing is down for that (I9). */
  const load = (file: string, purpose: KeyPurpose) => loadKeyFile(file, { purpose });
  const make = async (file: string, purpose: KeyPurpose): Promise<Outcome<KeyFile>> => {
    await mkdir(signers, { recursive: true, mode: 0o700 });
    const now = clock.wallMs();
    return createKeyFile(file, { purpose, notBeforeMs: now, notAfterMs: now + VALIDITY_MS });
  };
  /** Only what is missing is made; a key that is there and cannot be used is refused, never replaced. */
  const ensure = async (file: string, purpose: KeyPurpose): Promise<Outcome<KeyFile>> => {
    const loaded = await load(file, purpose);
    return loaded.ok || loaded.refusal.code !== 'key-missing' ? loaded : make(file, purpose);
  };

  return {
    authority: () => ensure(authorityFile, 'authority'),
    signer: async (target) => remember(target, await load(signerFile(target), 'service-signer')),
    admit: async (target) => remember(target, await ensure(signerFile(target), 'service-signer')),
    anchors(target) {
      const anchor = known.get(target);
      return anchor === undefined ? [] : [anchor];
    },
    async create(target) {
      const made = await make(signerFile(target), 'service-signer');
      if (made.ok || made.refusal.code !== 'key-exists') return made;
      return refused(refusal('key-exists', `The target ${target} already has a service signer.`));
    },
    async list() {
      const targets = (await readdir(signers)).filter((name) => !name.endsWith('.json'));
      const named: [string, string][] = [
        ['authority', authorityFile],
        ...targets
          .toSorted((a, b) => a.localeCompare(b))
          .map((target): [string, string] => [target, signerFile(target)]),
      ];
      const keys: KeyAnswer[] = [];
      const unreadable: Keys['unreadable'] = [];
      for (const [name, file] of named) {
        const record = await loadKeyRecord(keyRecordPath(file));
        if (record.ok) keys.push(keyAnswerOf(name, record.value));
        else unreadable.push({ name, refusal: record.refusal });
      }
      return { keys, unreadable };
    },
  };
}

export const keyAnswerOf = (name: string, { purpose, keyId, publicKey, notBefore }: KeyRecord): KeyAnswer => ({
  name,
  purpose,
  keyId,
  publicKey,
  createdAt: notBefore,
});

export const keyAnswer = (name: string, made: Outcome<KeyFile>): Outcome<KeyAnswer> =>
  made.ok ? ok(keyAnswerOf(name, made.value.record)) : made;
