import type { Inspect } from '@idunn/client';
import { isDigest, type Json, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ApiParts } from './parts.ts';
import { targetStatusOf, transactionAnswerOf } from './views.ts';

/**
 * Everything that is known about one id: a target, a transaction, a release digest, an incarnation key, or the first
 * digits that status shows of an incarnation, its activation or its release.
 */
export async function inspect(parts: ApiParts, word: string): Promise<Outcome<Inspect>> {
  const id = await wholeId(parts, word);
  const answer = async (kind: Inspect['kind'], value: unknown, incarnation: string | null): Promise<Outcome<Inspect>> =>
    ok({
      schema: 'idunn.inspect/v1',
      kind,
      id,
      value: value as Json as Inspect['value'],
      dossier: kind === 'release' ? await parts.dossier({ release: id }) : await dossier(parts, incarnation),
    });
  if (isDigest(id)) {
    const release = await parts.release(id);
    if (release.ok) return answer('release', release.value, null);
    const authorization = await parts.authorization(id);
    return authorization === null ? release : answer('authorization', authorization, null);
  }
  const at = id.indexOf('@sha256:');
  const view = await parts.engine.target(at === -1 ? id : id.slice(0, at));
  if (at !== -1) {
    const incarnation = view?.incarnations.find((one) => one.incarnation === id);
    return incarnation === undefined ? unknownSubject(id) : answer('incarnation', incarnation, id);
  }
  if (view !== null) return answer('target', targetStatusOf(view), view.admitted?.incarnation ?? null);
  const transaction = await parts.engine.transaction(id);
  if (transaction === null) return unknownSubject(id);
  return answer('transaction', transactionAnswerOf(transaction), transaction.incarnation);
}

const dossier = (parts: ApiParts, incarnation: string | null): Promise<Inspect['dossier']> =>
  incarnation === null ? Promise.resolve(null) : parts.dossier({ incarnation });

const unknownSubject = (id: string): Outcome<never> =>
  refused(refusal('subject-unknown', `nothing called ${id} is known here`));

const FIRST_DIGITS = /^(?:sha256:|act-)?([0-9a-f]{8,63})$/;

/** The one incarnation or release of the running fleet that begins so; the word itself when there is not just one. */
async function wholeId(parts: ApiParts, word: string): Promise<string> {
  const digits = FIRST_DIGITS.exec(word)?.[1];
  if (digits === undefined) return word;
  const targets = await parts.engine.targets();
  const begins = (id: string | null): boolean =>
    id
      ?.split(/sha256:|act-/)
      .at(-1)
      ?.startsWith(digits) ?? false;
  const found = new Set(
    targets.flatMap(({ incarnations }) =>
      incarnations.flatMap(({ incarnation, activation, expected }) => [
        ...(begins(incarnation) || begins(activation) ? [incarnation] : []),
        ...(begins(expected.release) ? [expected.release] : []),
      ]),
    ),
  );
  const [only] = found;
  return found.size === 1 && only !== undefined ? only : word;
}
