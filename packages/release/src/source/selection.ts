import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Binding } from '../binding/schema.ts';
import type { SourceRequest } from '../ports/source-port.ts';

/**
 * Which commit is asked for. A request may name the admitted ref, its short name, or a full commit id, which the ref
 * must then contain; anything else is refused before the origin is asked (F1).
 */
export function selectSource({ target, source }: Binding, wanted: string | undefined): Outcome<SourceRequest> {
  if (source.selection === 'signed-authorization') throw new TypeError('an unchecked binding');
  const request = {
    target,
    origin: source.origin,
    ref: source.ref,
    minimumRevision: source.minimum_revision,
    recipePath: source.recipe,
    submodules: source.submodule,
    lfsPointers: source.lfs_pointers,
    collidingNames: source.colliding_names,
  };
  const pinned = source.selection === 'pinned-object' ? (source.commit ?? null) : null;
  const short = source.ref.replace(/^refs\/(?:heads|tags)\//, '');
  if (wanted === undefined || wanted === source.ref || wanted === short) {
    return ok({ ...request, selection: source.selection, commit: pinned });
  }
  const isCommit = /^[0-9a-f]+$/.test(wanted) && wanted.length === source.minimum_revision.length;
  if (isCommit && (pinned === null || pinned === wanted)) {
    return ok({ ...request, selection: 'pinned-object', commit: wanted });
  }
  const admitted = pinned === null ? `the ref ${source.ref} and the commits that it contains` : `the commit ${pinned}`;
  return refused(
    refusal('ref-not-admitted', `The binding of ${target} admits ${admitted}, not ${wanted.slice(0, 200)}.`),
  );
}
