import {
  type Envelope,
  publicKeyOf,
  type SigningKey,
  signEnvelope,
  signingKeyFromSeed,
  type VerificationKey,
  verificationKey,
} from '@idunn/kernel';
import { deriveExpected, incarnationKey, type PlanFacts, type SealedFacts } from '../model/derive-expected.ts';
import type { Activation, Expected, ObservedRuntime } from '../model/expected.ts';
import type { Presence } from '../model/presence.ts';

/** A signing key that is the same in every run: `fill` is each byte of its seed. */
export const sampleKey = (fill: number): SigningKey => signingKeyFromSeed(Buffer.alloc(32, fill).toString('base64'));

export const verifierOf = (key: SigningKey): VerificationKey => verificationKey(publicKeyOf(key.privateKey));

export const authorityKey = sampleKey(1);
export const observerKey = sampleKey(2);
export const activationKey = sampleKey(3);
export const signerKey = sampleKey(4);
export const foreignKey = sampleKey(5);

export const audience = { fleet: 'aetheria', machine: 'local' } as const;

const sha = (digit: string) => `sha256:${digit.repeat(64)}` as const;
export const planDigest = sha('a');

/** A plan's facts among the private ones that must never leave it. */
export const plan: PlanFacts & Record<string, unknown> = {
  fleet: audience.fleet,
  machine: audience.machine,
  target: 'ghostlight',
  signer: { keyId: signerKey.keyId },
  health: { kind: 'idunn', freshnessMs: 5_000 },
  state: { stateId: 'state-1', schema: 'ghostlight.journal/v1' },
  launch: { endpoint: { protocol: 'http', host: '127.0.0.1', fromPort: 4100, toPort: 4199 } },
  capabilities: [{ name: 'world', schema: 'ghostlight.world/v1' }],
  source: { origin: 'https://token:hush@example.test/ghostlight.git' },
  stateRoot: '/srv/private/state',
  user: 'ghost',
};

export const sealed: SealedFacts = {
  target: 'ghostlight',
  plan: planDigest,
  release: sha('b'),
  build: sha('c'),
  revision: '4f9c0a'.repeat(6).slice(0, 40).padEnd(40, '0'),
  executableDigest: sha('d'),
  entry: { digest: sha('e') },
};

export function sampleExpected(changes: Partial<PlanFacts> = {}): Expected {
  const derived = deriveExpected({ plan: { ...plan, ...changes }, planDigest, sealed });
  if (!derived.ok) throw new Error(derived.refusal.reason);
  return derived.value;
}

export const expected = sampleExpected();
export const key = incarnationKey(expected);

export const activation: Activation = {
  schema: 'idunn.activation/v1',
  activation: 'activation-1',
  incarnation: key,
  target: 'ghostlight',
  publicKey: publicKeyOf(activationKey.privateKey),
  keyId: activationKey.keyId,
  endpoint: { host: '127.0.0.1', port: 4101 },
};

export const observed: ObservedRuntime = {
  identity: {
    kind: 'linux-process',
    pid: 4711,
    startTime: '123456',
    bootId: 'boot-1',
    controlGroup: null,
    pidNamespace: 'pid:[4026531836]',
  },
  executable: sha('d'),
  argv: sha('f'),
  entry: { device: '8:1', inode: '77', digest: sha('e') },
};

export function samplePresence(changes: Partial<Omit<Presence, 'header'>> = {}, sequence = 1): Presence {
  const said = {
    target: 'ghostlight',
    incarnation: key,
    activation: activation.activation,
    state: 'active',
    pid: 4711,
    epoch: 7,
    endpoint: { host: '127.0.0.1', port: 4101 },
    stateSchema: 'ghostlight.journal/v1',
    capabilities: [{ name: 'world', schema: 'ghostlight.world/v1' }],
    detail: '',
    ...changes,
  } as const;
  return {
    header: {
      schema: 'idunn.presence/v1',
      issuer: activationKey.keyId,
      audience,
      subject: said.activation,
      requestId: `presence-${sequence}`,
      sequence,
    },
    ...said,
  };
}

export const signPresence = (presence: Presence, keys: readonly SigningKey[] = [activationKey, signerKey]): Envelope =>
  signEnvelope(presence, keys);
