import {
  type Digest,
  type Outcome,
  ok,
  openReleaseAuthorization,
  refusal,
  refused,
  verificationKey,
} from '@idunn/kernel';
import type { Plan } from '../model/plan.ts';

/**
 * Verifies anew what a plan froze: the authorizer's signature, for this fleet and target, over exactly the planned
 * commit. `not-asked` for a plan of another selection. Works for as long as the plan is kept.
 */
export function verifyAuthorization({ fleet, target, source }: Plan): Outcome<'proven' | 'not-asked'> {
  const { authorization, commit } = source;
  if (authorization === null) return ok('not-asked');
  const { envelope, publicKey, digest } = authorization;
  const opened = openReleaseAuthorization({ envelope, keys: [verificationKey(publicKey)], fleet, target });
  if (!opened.ok) return opened;
  if (opened.value.digest === digest && opened.value.payload.commit === commit) return ok('proven');
  const reason = `The authorization ${digest} is of ${opened.value.payload.commit}, the plan of ${commit}.`;
  return refused(refusal('ref-not-admitted', reason));
}

/** Whether a build is the one that the plan's authorization names, where it names one. */
export function checkAuthorizedBuild({ target, source: { authorization } }: Plan, build: Digest): Outcome<'admitted'> {
  const named = authorization?.build ?? null;
  if (named === null || named === build) return ok('admitted');
  const reason = `${target} was authorized as the build ${named}, and came to ${build}.`;
  return refused(refusal('authorization-build-mismatch', reason));
}
