import { canonicalJson, type Header, keyIdOf, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ObserverRequest } from '../link/messages.ts';
import { incarnationKey } from '../model/derive-expected.ts';
import type { IncarnationKey } from '../model/expected.ts';
import { type AnchorRecord, type IncarnationRecord, MAX_INCARNATIONS, MAX_REPLACED, MAX_SPENT } from './records.ts';

/** What a publication is judged by. */
export interface PublicationView {
  readonly audience: Header['audience'];
  readonly incarnations: number;
  incarnation(key: IncarnationKey): IncarnationRecord | null;
  anchor(target: string): AnchorRecord | null;
}

/** What a request changes: one record, or nothing where it was so already. */
export type PublicationChange =
  | { readonly kind: 'anchor'; readonly target: string; readonly next: AnchorRecord }
  | { readonly kind: 'incarnation'; readonly key: IncarnationKey; readonly next: IncarnationRecord | null }
  | { readonly kind: 'none' };

const NONE = ok<PublicationChange>({ kind: 'none' });

/** Judges a signed request of the authority. Pure; a request that was carried out before is harmless (I6). */
export function decidePublication(view: PublicationView, request: ObserverRequest): Outcome<PublicationChange> {
  switch (request.kind) {
    case 'anchor':
      return anchor(view, request);
    case 'publish-expected':
      return publishExpected(view, request);
    case 'publish-activation':
      return publishActivation(view, request);
    case 'demote':
      return demote(view, request);
    case 'withdraw':
      // Only the record under this very key goes: an incumbent beside it is untouched (I7).
      return view.incarnation(request.incarnation) === null
        ? NONE
        : ok({ kind: 'incarnation', key: request.incarnation, next: null });
  }
}

type Of<K extends ObserverRequest['kind']> = Extract<ObserverRequest, { kind: K }>;

function anchor(view: PublicationView, { target, keys }: Of<'anchor'>): Outcome<PublicationChange> {
  const odd = keys.find((key) => keyIdOf(Buffer.from(key.publicKey, 'base64')) !== key.keyId);
  if (odd !== undefined) {
    return refused(
      refusal('anchor-malformed', `The anchor of ${target} names a key as ${odd.keyId}, which it is not.`),
    );
  }
  const next: AnchorRecord = { schema: 'idunn.trust-anchor/v1', keys };
  const before = view.anchor(target);
  return before !== null && canonicalJson(before) === canonicalJson(next) ? NONE : ok({ kind: 'anchor', target, next });
}

function publishExpected(
  view: PublicationView,
  { incarnation, expected }: Of<'publish-expected'>,
): Outcome<PublicationChange> {
  if (incarnationKey(expected) !== incarnation) {
    return refused(
      refusal('expected-key-mismatch', `${incarnation} is not the key of the Expected published under it.`),
    );
  }
  const { fleet, machine } = view.audience;
  if (expected.fleet !== fleet || expected.machine !== machine) {
    return refused(
      refusal('expected-foreign', `${incarnation} is of fleet ${expected.fleet}, machine ${expected.machine}.`),
    );
  }
  if (!view.anchor(expected.target)?.keys.some((key) => key.keyId === expected.signer)) {
    return refused(refusal('anchor-missing', `${expected.target} has no trust anchor ${expected.signer}.`));
  }
  if (view.incarnation(incarnation) !== null) return NONE;
  if (view.incarnations >= MAX_INCARNATIONS) {
    return refused(refusal('expected-too-many', `The observer holds ${MAX_INCARNATIONS} incarnations already.`));
  }
  const next: IncarnationRecord = {
    schema: 'idunn.observed-incarnation/v1',
    expected,
    current: null,
    replaced: [],
    spent: [],
  };
  return ok({ kind: 'incarnation', key: incarnation, next });
}

/** The activation comes with what the driver observed of it: issued alone it establishes nothing (I4). */
function publishActivation(
  view: PublicationView,
  { activation, observed }: Of<'publish-activation'>,
): Outcome<PublicationChange> {
  const key = activation.incarnation;
  const record = view.incarnation(key);
  if (record === null) return refused(refusal('expected-unknown', `No Expected was published under ${key}.`));
  if (record.spent.includes(activation.activation)) {
    return refused(refusal('activation-past', `${activation.activation} of ${key} was demoted.`));
  }
  if (keyIdOf(Buffer.from(activation.publicKey, 'base64')) !== activation.keyId) {
    return refused(refusal('anchor-malformed', `${activation.activation} names its key as ${activation.keyId}.`));
  }
  return ok({
    kind: 'incarnation',
    key,
    next: { ...replace(record, activation.activation), current: { activation, observed } },
  });
}

/** The activation that was current makes room; it may come back, as when a candidate of the same build is given up. */
function replace(record: IncarnationRecord, next: string): IncarnationRecord {
  const before = record.current?.activation.activation;
  if (before === next) return record;
  const others = [...record.replaced, ...(before === undefined ? [] : [before])].filter((one) => one !== next);
  const overflow = others.slice(0, Math.max(0, others.length - MAX_REPLACED));
  return { ...record, replaced: others.slice(overflow.length), spent: spend(record.spent, overflow) };
}

function demote(view: PublicationView, { incarnation, activation }: Of<'demote'>): Outcome<PublicationChange> {
  const record = view.incarnation(incarnation);
  if (record === null) return refused(refusal('expected-unknown', `No Expected was published under ${incarnation}.`));
  const current = record.current?.activation.activation;
  if (current !== activation && !record.replaced.includes(activation)) {
    if (current === undefined) return NONE;
    return refused(refusal('activation-not-current', `${current}, not ${activation}, is current for ${incarnation}.`));
  }
  const next: IncarnationRecord = {
    ...record,
    current: current === activation ? null : record.current,
    replaced: record.replaced.filter((one) => one !== activation),
    spent: spend(record.spent, [activation]),
  };
  return ok({ kind: 'incarnation', key: incarnation, next });
}

const spend = (spent: readonly string[], more: readonly string[]): string[] => [...spent, ...more].slice(-MAX_SPENT);

/** The activations of an incarnation whose presences may count, now or again. */
export const livingActivations = (record: IncarnationRecord | null): readonly string[] =>
  record === null
    ? []
    : [...(record.current === null ? [] : [record.current.activation.activation]), ...record.replaced];
