import { join } from 'node:path';
import type { MintRequest } from '@idunn/authority';
import { type Header, type JsonObject, publicKeyOf, type SigningKey } from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import type { HealthContract } from '@idunn/release';
import type { ProbeWords } from './probe-words.ts';

/** Where the observer listens and whose word counts. */
export interface ObserverEndpoint {
  readonly socket: string;
  readonly keyId: string;
  /** Raw Ed25519 public key, base64. */
  readonly publicKey: string;
}

/** A program that changes nothing still speaks this often, in milliseconds. */
const LONGEST_SILENCE_MS = 120_000;
/** Presences within one span of freshness, so that a single lost one makes nothing stale. */
const PRESENCES_PER_FRESHNESS = 2.5;

/** How often a program repeats its presence. */
export const presenceEveryMs = (freshnessMs: number): number =>
  Math.max(1, Math.min(LONGEST_SILENCE_MS, Math.floor(freshnessMs / PRESENCES_PER_FRESHNESS)));

export interface Minted {
  readonly activation: Activation;
  readonly request: MintRequest;
  readonly observer: ObserverEndpoint | null;
  /** The probe with every slot filled; `null` where the program speaks for itself. */
  readonly probe: ProbeWords | null;
  readonly audience: Header['audience'];
  readonly authorityKey: SigningKey;
}

/** The launch document `idunn.launch/v1` of docs/workload-protocol.md. It names secrets and never holds one (F30). */
export function launchDocument({ activation, request, observer, probe, audience, authorityKey }: Minted): JsonObject {
  const { state, launch } = request;
  return {
    header: headerFor('idunn.launch/v1', request, audience, authorityKey),
    target: activation.target,
    incarnation: activation.incarnation,
    activation: activation.activation,
    authority: { keyId: authorityKey.keyId, publicKey: publicKeyOf(authorityKey.privateKey) },
    observer: observer === null ? null : { ...observer },
    endpoint: activation.endpoint === null ? null : { ...activation.endpoint },
    expected: request.expected as unknown as JsonObject,
    state:
      state === null
        ? null
        : {
            stateId: state.stateId,
            schema: state.schema,
            accepts: state.accepts,
            stores: state.stores.map(({ id, kind, path }) => ({ id, kind, path: join(state.root, path) })),
          },
    presenceEveryMs: presenceEveryMs(request.expected.health.freshnessMs),
    secrets: launch.secrets.map((secret) => secret.name),
    ...attended(request.health, probe),
  };
}

/** Programs that speak for themselves are told nothing of it. */
function attended(health: HealthContract, probe: ProbeWords | null): JsonObject {
  if (health.kind === 'idunn' || probe === null) return {};
  const { intervalMs, timeoutMs, successes, failures } = health;
  return { attended: { probe: { ...probe }, intervalMs, timeoutMs, successes, failures } };
}

/** The activation record, signed, so that a later daemon can answer a repeated mint from it. */
export const activationStatement = ({ activation, request, audience, authorityKey }: Minted): JsonObject => ({
  header: headerFor('idunn.activation/v1', request, audience, authorityKey),
  record: activation as unknown as JsonObject,
});

const headerFor = (
  schema: string,
  request: MintRequest,
  audience: Header['audience'],
  authorityKey: SigningKey,
): JsonObject => ({
  schema,
  issuer: authorityKey.keyId,
  audience,
  subject: request.activation,
  requestId: request.requestId,
  sequence: 1,
});
