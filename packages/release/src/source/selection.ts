import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Authorized } from '../authorization/book.ts';
import type { Binding } from '../binding/schema.ts';
import type { SourceRequest } from '../ports/source-port.ts';

/**
 * Which commit is asked for. A request may name the admitted ref, its short name, or a full commit id, which the ref
 * must then contain; anything else is refused before the origin is asked (F1). `authorized` is the release that the
 * binding's authorizers selected; `null` for every other kind of selection.
 */
export function selectSource(
  { target, source }: Binding,
  wanted: string | undefined,
  authorized: Authorized | null,
): Outcome<SourceRequest> {
  if ((source.selection === 'signed-authorization') !== (authorized !== null)) throw new TypeError('nobody was asked');
  const request = {
    target,
    origin: source.origin,
    ref: source.ref,
    authorization: authorized?.frozen ?? null,
    minimumRevision: source.minimum_revision,
    recipePath: source.recipe,
    submodules: source.submodule,
    lfsPointers: source.lfs_pointers,
    collidingNames: source.colliding_names,
  };
  const only = authorized?.commit ?? (source.selection === 'pinned-object' ? (source.commit ?? null) : null);
  const short = source.ref.replace(/^refs\/(?:heads|tags)\//, '');
  if (wanted === undefined || wanted === source.ref || wanted === short || wanted === only) {
    return ok({ ...request, selection: source.selection, commit: only });
  }
  const isCommit = /^[0-9a-f]+$/.test(wanted) && wanted.length === source.minimum_revision.length;
  if (isCommit && only === null) return ok({ ...request, selection: 'pinned-object', commit: wanted });
  const admitted = only === null ? `the ref ${source.ref} and the commits that it contains` : `the commit ${only}`;
  const by = authorized === null ? `The binding of ${target}` : `The authorization ${authorized.frozen.digest}`;
  return refused(refusal('ref-not-admitted', `${by} admits ${admitted}, not ${wanted.slice(0, 200)}.`));
}
