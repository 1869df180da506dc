import {
  authorizationSpan,
  type Clock,
  type Digest,
  type Envelope,
  type Outcome,
  ok,
  openReleaseAuthorization,
  publicKeyToBase64,
  type RecordStore,
  type ReleaseAuthorization,
  refusal,
  refused,
  type StoredRecord,
  type VerificationKey,
  verificationKey,
} from '@idunn/kernel';
import type { Binding } from '../binding/schema.ts';
import type { FrozenAuthorization } from '../model/source-facts.ts';
import { type AcceptedRecord, keyOfAuthorization, prefixOf } from './record.ts';

/** Races with other submissions that one sits out before it is given back. */
const ATTEMPTS = 8;

/** What an authorizer selected, verified a moment ago. */
export interface Authorized {
  readonly commit: string;
  readonly frozen: FrozenAuthorization;
}

/** One word that was accepted, as people are shown it. */
export interface AcceptedAuthorization {
  readonly digest: Digest;
  readonly target: string;
  readonly keyId: string;
  readonly authorization: ReleaseAuthorization;
  readonly envelope: Envelope;
  readonly acceptedAtMs: number;
  readonly actor: string;
  /** True for an exact repeat of what was accepted before. */
  readonly repeated: boolean;
}

/** The durable book of release authorizations: of each key and target the newest word. */
export interface AuthorizationBook {
  /**
   * Takes one in, durably and once: a repeat of the same bytes answers as the first time. Refused unless one of the
   * binding's authorizers signed it for this fleet and target, it has not expired, and its sequence rises (I5).
   */
  accept(
    binding: Binding,
    envelope: unknown,
    requester: { readonly actor: string; readonly tenant: string },
  ): Promise<Outcome<AcceptedAuthorization>>;
  /**
   * The release that the target's authorizers select now: of the keys that the binding names, the word that was
   * accepted last. An older word never takes the place of one that expired.
   */
  current(binding: Binding): Promise<Outcome<Authorized>>;
  /** The newest word of each key, the one that was accepted last first. */
  list(target: string): Promise<readonly AcceptedAuthorization[]>;
}

export function createAuthorizationBook(options: {
  readonly store: RecordStore;
  readonly clock: Clock;
  readonly fleet: string;
}): AuthorizationBook {
  const { store, clock, fleet } = options;
  const open = (target: string, envelope: unknown, keys: readonly VerificationKey[]) =>
    openReleaseAuthorization({ envelope, keys, fleet, target });

  async function newest(target: string): Promise<readonly StoredRecord<AcceptedRecord>[]> {
    const { space, kind } = keyOfAuthorization(target, '');
    const found = await store.list(space, kind, { prefix: prefixOf(target) });
    // The generation is the state version of the acceptance: order without a clock (F29).
    return (found as readonly StoredRecord<AcceptedRecord>[]).toSorted((a, b) => b.generation - a.generation);
  }

  return {
    async accept({ target, source }, envelope, { actor, tenant }) {
      if (source.selection !== 'signed-authorization') {
        return refused(refusal('authorization-not-asked', `The binding of ${target} selects by ${source.selection}.`));
      }
      const opened = open(target, envelope, source.authorizers.map(verificationKey));
      if (!opened.ok) return opened;
      const { payload, digest, key } = opened.value;
      const span = authorizationSpan(payload, clock.wallMs());
      if (!span.ok && span.refusal.code === 'authorization-expired') return span;
      const { sequence } = payload.header;
      const record: AcceptedRecord = {
        schema: 'idunn.accepted-authorization/v1',
        target,
        keyId: key.keyId,
        sequence,
        digest,
        // Opening proved the shape.
        envelope: envelope as Envelope,
        acceptedAtMs: clock.wallMs(),
        actor,
        tenant,
      };
      const { commit, build, notBefore, notAfter } = payload;
      const body = { digest, keyId: key.keyId, sequence, commit, build, notBefore, notAfter };
      const entry = { kind: 'authorization.accepted', subject: target, actor, tenant, atMs: record.acceptedAtMs, body };
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const at = keyOfAuthorization(target, key.keyId);
        const before = (await store.get(at)) as StoredRecord<AcceptedRecord> | null;
        if (before?.value.digest === digest) return shown(before.value, payload, true);
        if (before !== null && sequence <= before.value.sequence) {
          const reason = `${key.keyId} said ${before.value.sequence} about ${target} before, and now ${sequence}.`;
          return refused(refusal('authorization-superseded', reason));
        }
        const mutations = [{ key: at, expect: before?.generation ?? ('absent' as const), next: record }];
        const result = await store.commit({ mutations, history: [entry] });
        if (result.kind === 'committed') return shown(record, payload, false);
        if (result.kind === 'unknown') return refused(refusal('intake-uncertain', result.because));
      }
      return refused(refusal('intake-uncertain', `The authorization of ${target} met ${ATTEMPTS} conflicts.`));
    },

    async current({ target, source }) {
      const keys = source.authorizers.map(verificationKey);
      const last = (await newest(target)).find(({ value }) => keys.some(({ keyId }) => keyId === value.keyId));
      if (last === undefined) return unauthorized(target);
      // I5: what is believed is the signature, not the record that carries it.
      const opened = open(target, last.value.envelope, keys);
      if (!opened.ok) return opened;
      const { payload, digest, key } = opened.value;
      const span = authorizationSpan(payload, clock.wallMs());
      if (!span.ok) return span;
      const frozen: FrozenAuthorization = {
        digest,
        keyId: key.keyId,
        publicKey: publicKeyToBase64(key.publicKey),
        sequence: payload.header.sequence,
        build: payload.build,
        notAfter: payload.notAfter,
        envelope: last.value.envelope,
      };
      return ok({ commit: payload.commit, frozen });
    },

    async list(target) {
      const records = await newest(target);
      return records.map(({ value }) => accepted(value, payloadOf(value.envelope), false));
    },
  };
}

/** Nobody said a word that counts. */
export const unauthorized = (target: string): Outcome<never> =>
  refused(refusal('authorization-missing', `No key that the binding of ${target} names has authorized a release.`));

const shown = (
  record: AcceptedRecord,
  authorization: ReleaseAuthorization,
  repeated: boolean,
): Outcome<AcceptedAuthorization> => ok(accepted(record, authorization, repeated));

const accepted = (
  { digest, target, keyId, envelope, acceptedAtMs, actor }: AcceptedRecord,
  authorization: ReleaseAuthorization,
  repeated: boolean,
): AcceptedAuthorization => ({
  digest: digest as Digest,
  target,
  keyId,
  authorization,
  envelope,
  acceptedAtMs,
  actor,
  repeated,
});

/** What was opened when it was accepted; for people, never for a decision. */
const payloadOf = ({ payload }: Envelope): ReleaseAuthorization =>
  JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as ReleaseAuthorization;
