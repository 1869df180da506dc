import {
  type Digest,
  digestJson,
  type Envelope,
  type Header,
  type JsonObject,
  type Refusal,
  type SigningKey,
  signEnvelope,
} from '@idunn/kernel';
import {
  type Disagreement,
  type IncarnationKey,
  LINK_SCHEMAS,
  type LinkLineType,
  type Present,
  type Standing,
} from '@idunn/readiness';
import { SEQUENCES_PER_ERA } from '../limits.ts';

/** A line of the link, ready to be written. */
export type SignedLine = string;

/** The observer's signed word. The only place in the house where a Ready receipt is built (I4). */
export interface Voice {
  present(key: IncarnationKey, present: Present, disagreements: readonly Disagreement[]): SignedLine;
  /** For an incarnation without obstacles; the digest is the receipt's name. */
  ready(key: IncarnationKey, present: Present): { readonly line: SignedLine; readonly receipt: Digest };
  batch(kind: 'refresh' | 'roster' | 'roster-end', standings: readonly Standing[]): SignedLine;
  ack(requestId: string, subject: string, refusal: Refusal | null): SignedLine;
  welcome(challenge: string, requestSequence: number): SignedLine;
}

/**
 * Speaks with the observer's key. `era` numbers the runs of the observer over one store, so that sequences rise over
 * restarts without a write for each statement (I5).
 */
export function createVoice(speaker: {
  readonly key: SigningKey;
  readonly audience: Header['audience'];
  readonly era: number;
  readonly self: { readonly incarnation: IncarnationKey; readonly activation: string };
}): Voice {
  const { key, audience, era, self } = speaker;
  let said = 0;

  const signed = (type: LinkLineType, subject: string, body: JsonObject, requestId?: string) => {
    said += 1;
    if (said >= SEQUENCES_PER_ERA) throw new RangeError('the sequences of this run are used up');
    const sequence = era * SEQUENCES_PER_ERA + said;
    const header = {
      schema: LINK_SCHEMAS[type],
      issuer: key.keyId,
      audience,
      subject,
      requestId: requestId ?? `${type}-${sequence}`,
      sequence,
    };
    const envelope = signEnvelope({ header, ...body }, [key]);
    return { envelope, line: lineOf(type, envelope) };
  };

  return {
    present: (incarnation, present, disagreements) =>
      signed('statement', incarnation, {
        ...boundTo(incarnation, present),
        state: present.state,
        fresh: present.fresh,
        disagreements: disagreements.map(({ code, detail }) => ({ code, detail })),
      }).line,
    ready(incarnation, present) {
      const { envelope, line } = signed('receipt', incarnation, boundTo(incarnation, present));
      return { line, receipt: digestJson(envelope) };
    },
    batch: (kind, standings) => signed('batch', audience.fleet, { kind, standings }).line,
    ack: (requestId, subject, refusal) =>
      signed(
        'ack',
        subject,
        { refusal: refusal === null ? null : { code: refusal.code, reason: refusal.reason } },
        requestId,
      ).line,
    welcome: (challenge, requestSequence) =>
      signed('welcome', audience.fleet, { challenge, requestSequence, ...self }).line,
  };
}

/** A statement names the exact presence, activation and epoch that it rests on (I5). */
const boundTo = (incarnation: IncarnationKey, present: Present): JsonObject => ({
  incarnation,
  activation: present.activation,
  epoch: present.epoch,
  presenceSequence: present.sequence,
  presence: present.digest,
});

const lineOf = (type: LinkLineType, envelope: Envelope): SignedLine => `${JSON.stringify({ type, envelope })}\n`;
