import type { AuthorizationAnswer, Authorizations, Keys } from '@idunn/client';
import { type Outcome, ok, refusal, refused, verificationKey } from '@idunn/kernel';
import type { AcceptedAuthorization, AuthorizationBook, BindingDocument } from '@idunn/release';
import type { ApiParts } from './api/parts.ts';
import { admitBindings } from './drivers.ts';
import type { Ground } from './ground.ts';

/** Release authorizations as the API speaks of them, over the book and the bindings as they stand now. */
export function authorizationParts(
  ground: Ground,
  book: AuthorizationBook,
): Pick<ApiParts, 'authorizations' | 'authorize' | 'authorization'> {
  const bindingOf = async (target: string): Promise<Outcome<BindingDocument>> => {
    const reading = await admitBindings(ground, target);
    if (!reading.ok) return reading;
    const { fleet } = reading.value;
    const bound = fleet.bindings.get(target);
    if (bound !== undefined) return ok(bound);
    return refused(refusal('target-unknown', `The fleet ${fleet.id} has no valid binding for ${target}.`));
  };
  return {
    async authorizations(target) {
      const bound = await bindingOf(target);
      if (!bound.ok) return bound;
      const { source } = bound.value.binding;
      const asked = source.selection === 'signed-authorization';
      const current = asked ? await book.current(bound.value.binding) : notAsked(target, source.selection);
      const answer: Authorizations = {
        schema: 'idunn.authorizations/v1',
        fleet: ground.fleet.last.fleet.id,
        target,
        authorizers: authorizersOf(bound.value),
        current: current.ok ? current.value.frozen.digest : null,
        refusal: current.ok ? null : current.refusal,
        authorizations: (await book.list(target)).map(answerOf),
      };
      return ok(answer);
    },
    async authorize(target, envelope, requester) {
      const bound = await bindingOf(target);
      if (!bound.ok) return bound;
      const accepted = await book.accept(bound.value.binding, envelope, requester);
      return accepted.ok ? ok(answerOf(accepted.value)) : accepted;
    },
    async authorization(digest) {
      for (const target of ground.fleet.last.targets) {
        const found = (await book.list(target)).find((one) => one.digest === digest);
        if (found !== undefined) return answerOf(found);
      }
      return null;
    },
  };
}

/** The authorizers of all bindings, beside the keys that the fleet holds itself. */
export const authorizerKeys = ({ fleet }: Ground): Keys['keys'] =>
  [...fleet.last.fleet.bindings.entries()].flatMap(([target, bound]) =>
    authorizersOf(bound).map((key, index) => ({
      name: `${target}/authorizer/${index + 1}`,
      purpose: 'release-authorization',
      ...key,
      createdAt: null,
    })),
  );

const authorizersOf = ({ binding }: BindingDocument): Authorizations['authorizers'] =>
  binding.source.authorizers.map((publicKey) => ({ keyId: verificationKey(publicKey).keyId, publicKey }));

const notAsked = (target: string, selection: string): Outcome<never> =>
  refused(refusal('authorization-not-asked', `The binding of ${target} selects by ${selection}.`));

const answerOf = (one: AcceptedAuthorization): AuthorizationAnswer => ({
  schema: 'idunn.authorization/v1',
  digest: one.digest,
  target: one.target,
  keyId: one.keyId,
  sequence: one.authorization.header.sequence,
  commit: one.authorization.commit,
  build: one.authorization.build,
  notBefore: one.authorization.notBefore,
  notAfter: one.authorization.notAfter,
  acceptedAt: new Date(one.acceptedAtMs).toISOString(),
  actor: one.actor,
  repeated: one.repeated,
  envelope: { ...one.envelope, signatures: one.envelope.signatures.map((signature) => ({ ...signature })) },
});
