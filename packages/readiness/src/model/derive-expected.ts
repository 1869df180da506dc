import { type Digest, digestJson, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Expected, IncarnationKey } from './expected.ts';
import { expectedSchema } from './schemas.ts';

/** What Expected takes from a compiled plan. A whole plan fits; whatever else it holds stays behind. */
export interface PlanFacts {
  readonly fleet: string;
  readonly machine: string;
  readonly target: string;
  readonly signer: { readonly keyId: string };
  readonly health: { readonly kind: 'idunn' | 'attended'; readonly freshnessMs: number };
  readonly state: { readonly stateId: string; readonly schema: string } | null;
  readonly launch: {
    readonly endpoint: {
      readonly protocol: 'http' | 'tcp';
      readonly host: string;
      readonly fromPort: number;
      readonly toPort: number;
    } | null;
  };
  readonly capabilities: readonly { readonly name: string; readonly schema: string }[];
}

/** What Expected takes from a sealed release. A whole sealed release fits. */
export interface SealedFacts {
  readonly target: string;
  readonly plan: Digest;
  readonly release: Digest;
  readonly build: Digest;
  readonly revision: string;
  readonly executableDigest: Digest;
  readonly entry: { readonly digest: Digest } | null;
}

/**
 * The sanitized Expected of a sealed release under the plan that it was sealed from; it names both content addresses
 * and what must be observed to run (I2, I4). `planDigest` is the digest of the plan at hand. Refused as
 * `release-not-of-plan` when the two do not belong together, `expected-not-publishable` when a fact is no public
 * word.
 *
 * @example
 * const expected = deriveExpected({ plan, planDigest: digestJson(plan), sealed });
 */
export function deriveExpected(from: {
  readonly plan: PlanFacts;
  readonly planDigest: Digest;
  readonly sealed: SealedFacts;
}): Outcome<Expected> {
  const { plan, planDigest, sealed } = from;
  if (sealed.plan !== planDigest || sealed.target !== plan.target) {
    return refused(
      refusal(
        'release-not-of-plan',
        `Release ${sealed.release} of ${sealed.target} was not sealed from ${planDigest}.`,
      ),
    );
  }
  const expected = expectedSchema.safeParse({
    schema: 'idunn.expected/v1',
    fleet: plan.fleet,
    machine: plan.machine,
    target: plan.target,
    plan: planDigest,
    release: sealed.release,
    build: sealed.build,
    revision: sealed.revision,
    runtime: { driver: 'process', executable: sealed.executableDigest, entry: sealed.entry?.digest ?? null },
    signer: plan.signer.keyId,
    health: { kind: plan.health.kind, freshnessMs: plan.health.freshnessMs },
    state: plan.state === null ? null : { stateId: plan.state.stateId, schema: plan.state.schema },
    endpoint:
      plan.launch.endpoint === null
        ? null
        : {
            protocol: plan.launch.endpoint.protocol,
            host: plan.launch.endpoint.host,
            fromPort: plan.launch.endpoint.fromPort,
            toPort: plan.launch.endpoint.toPort,
          },
    capabilities: plan.capabilities.map(({ name, schema }) => ({ name, schema })),
  });
  if (expected.success) return ok(expected.data);
  const fields = expected.error.issues.map((issue) => issue.path.join('.')).join(', ');
  return refused(
    refusal('expected-not-publishable', `Expected of ${plan.target} cannot be published because of: ${fields}.`),
  );
}

/**
 * The key that every record of an incarnation goes by. Throws `ZodError` for a document that is not a sanitized
 * Expected: what has a key has been checked.
 */
export function incarnationKey(expected: Expected): IncarnationKey {
  const checked = expectedSchema.parse(expected);
  return `${checked.target}@${digestJson(checked)}`;
}
