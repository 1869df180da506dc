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
      minimumRevision: source.minimumRevision,
      recipePath: source.recipePath,
    },
    signal,
  );
  if (!resolved.ok) return [{ check, verdict: 'unknown', detail: resolved.refusal.reason }];
  const { facts } = resolved.value;
  const wrong = (['commit', 'tree', 'recipeBlob', 'recipeDigest'] as const).filter(
    (name) => facts[name] !== source[name],
  );
  return wrong.length === 0
    ? [
        {
          check,
          verdict: 'ok',
          detail: `commit ${facts.commit} of ${source.origin} has tree ${facts.tree}, and this recipe`,
        },
      ]
    : [
        {
          check,
          verdict: 'differs',
          detail: wrong.map((name) => `${name} is ${facts[name]}, and ${source[name]} was planned`).join('; '),
        },
      ];
}
