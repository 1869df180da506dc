import { canonicalJson } from '@idunn/kernel';
import type { AuditCheck, Plan, SourcePort } from '@idunn/release';
import { INSTALLED_ORIGIN } from '@idunn/release';

/** Reads the commit anew from its origin, and derives tree and recipe from it. */
export async function sourceChecks(
  { target, source }: Plan,
  port: Pick<SourcePort, 'resolve'>,
  signal: AbortSignal,
): Promise<AuditCheck[]> {
  const check = 'source';
  if (source.origin === INSTALLED_ORIGIN) {
    return [{ check, verdict: 'unknown', detail: 'it was sealed from the files that are installed with Idunn' }];
  }
  const resolved = await port.resolve(
    {
      target,
      origin: source.origin,
      ref: source.ref,
      selection: 'pinned-object',
      commit: source.commit,
      authorization: null,
      minimumRevision: source.minimumRevision,
      recipePath: source.recipePath,
      submodules: source.gitlinks,
      lfsPointers: source.lfsPointers,
      // Which names may be staged was decided when it was planned; here nothing is.
      collidingNames: 'keep',
    },
    signal,
  );
  if (!resolved.ok) return [{ check, verdict: 'unknown', detail: resolved.refusal.reason }];
  const { facts } = resolved.value;
  const wrong = NAMES.filter((name) => canonicalJson(facts[name]) !== canonicalJson(source[name]));
  const found = `commit ${facts.commit} of ${source.origin} has tree ${facts.tree}`;
  return wrong.length === 0
    ? [{ check, verdict: 'ok', detail: `${found}, and this recipe` }]
    : [{ check, verdict: 'differs', detail: `${found}; planned was another ${wrong.join(', ')}` }];
}

/** What must be the same again. */
const NAMES = ['commit', 'tree', 'recipeBlob', 'recipeDigest', 'gitlinks'] as const;
