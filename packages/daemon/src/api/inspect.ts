import type { Inspect } from '@idunn/client';
import { isDigest, type Json, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ApiParts } from './parts.ts';
import { targetStatusOf, transactionAnswerOf } from './views.ts';

/** Everything that is known about one id: a target, a transaction, a release digest or an incarnation key. */
export async function inspect(parts: ApiParts, id: string): Promise<Outcome<Inspect>> {
  const answer = (kind: Inspect['kind'], value: unknown): Outcome<Inspect> =>
    ok({ schema: 'idunn.inspect/v1', kind, id, value: value as Json as Inspect['value'] });
  if (isDigest(id)) {
    const release = await parts.release(id);
    return release.ok ? answer('release', release.value) : release;
  }
  const at = id.indexOf('@sha256:');
  const view = await parts.engine.target(at === -1 ? id : id.slice(0, at));
  if (at !== -1) {
    const incarnation = view?.incarnations.find((one) => one.incarnation === id);
    return incarnation === undefined ? unknownSubject(id) : answer('incarnation', incarnation);
  }
  if (view !== null) return answer('target', targetStatusOf(view));
  const transaction = await parts.engine.transaction(id);
  return transaction === null ? unknownSubject(id) : answer('transaction', transactionAnswerOf(transaction));
}

const unknownSubject = (id: string): Outcome<never> =>
  refused(refusal('subject-unknown', `nothing called ${id} is known here`));
