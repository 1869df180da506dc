import { type Digest, digestJson, publicKeyOf, type SigningKey, signEnvelope, signingKeyFromSeed } from '@idunn/kernel';
import { incarnationKey } from '../model/derive-expected.ts';
import type { Activation, Expected, IncarnationKey, ObservedRuntime } from '../model/expected.ts';
import type { Presence } from '../model/presence.ts';
import { audience, authorityKey } from './samples.ts';

/** Everything that one pretended workload needs to be published and to speak. */
export interface SampleWorkload {
  readonly target: string;
  readonly activationKey: SigningKey;
  readonly signerKey: SigningKey;
  readonly seeds: { readonly activation: string; readonly signer: string };
  readonly anchor: { readonly keyId: string; readonly publicKey: string };
  readonly expected: Expected;
  readonly key: IncarnationKey;
  readonly activation: Activation;
  readonly observed: ObservedRuntime;
  /** An unsigned presence that agrees with everything, but for `changes`. */
  says(sequence: number, changes?: Partial<Omit<Presence, 'header'>>): Presence;
  /** The line that such a presence is on the wire. */
  line(sequence: number, changes?: Partial<Omit<Presence, 'header'>>): string;
}

const seedOf = (text: string): string =>
  Buffer.from(digestJson(text).slice('sha256:'.length), 'hex').toString('base64');

export interface SampleOptions {
  readonly target: string;
  readonly launch?: number;
  readonly freshnessMs?: number;
  readonly bootId?: string;
  readonly pid?: number;
  readonly stateful?: boolean;
  /** Distinguishes two incarnations of one target. */
  readonly revision?: string;
}

/** A workload that is the same in every run, by its target and the number of its launch. */
export function sampleWorkload(options: SampleOptions): SampleWorkload {
  const { target, launch = 1, freshnessMs = 60_000, bootId = 'boot-1', pid = 4711, stateful = true } = options;
  const { revision = 'r1' } = options;
  const sha = (what: string): Digest => digestJson(`${target} ${revision} ${what}`);
  const seeds = { activation: seedOf(`${target} ${revision} ${launch}`), signer: seedOf(target) };
  const activationKey = signingKeyFromSeed(seeds.activation);
  const signerKey = signingKeyFromSeed(seeds.signer);
  const state = stateful ? { stateId: `state-${target}`, schema: 'journal/v1' } : null;
  const expected: Expected = {
    schema: 'idunn.expected/v1',
    ...audience,
    target,
    plan: sha('plan'),
    release: sha('release'),
    build: sha('build'),
    revision,
    runtime: { driver: 'process', executable: sha('executable'), entry: sha('entry') },
    signer: signerKey.keyId,
    health: { kind: 'idunn', freshnessMs },
    state,
    endpoint: null,
    capabilities: [],
  };
  const key = incarnationKey(expected);
  const activation: Activation = {
    schema: 'idunn.activation/v1',
    activation: `activation-${target}-${revision}-${launch}`,
    incarnation: key,
    target,
    publicKey: publicKeyOf(activationKey.privateKey),
    keyId: activationKey.keyId,
    endpoint: null,
  };
  const observed: ObservedRuntime = {
    identity: { kind: 'linux-process', pid, startTime: '1', bootId, controlGroup: null, pidNamespace: 'pid:[1]' },
    executable: sha('executable'),
    argv: sha('argv'),
    entry: { device: '1', inode: '1', digest: sha('entry') },
  };

  const says: SampleWorkload['says'] = (sequence, changes = {}) => ({
    header: {
      schema: 'idunn.presence/v1',
      issuer: activationKey.keyId,
      audience,
      subject: activation.activation,
      requestId: `presence-${sequence}`,
      sequence,
    },
    target,
    incarnation: key,
    activation: activation.activation,
    state: 'active',
    pid,
    epoch: stateful ? 1 : null,
    endpoint: null,
    stateSchema: state?.schema ?? null,
    capabilities: [],
    detail: '',
    ...changes,
  });

  return {
    target,
    activationKey,
    signerKey,
    seeds,
    anchor: { keyId: signerKey.keyId, publicKey: publicKeyOf(signerKey.privateKey) },
    expected,
    key,
    activation,
    observed,
    says,
    line: (sequence, changes) => presenceLine(signEnvelope(says(sequence, changes), [activationKey, signerKey])),
  };
}

export const presenceLine = (envelope: unknown): string => `${JSON.stringify({ type: 'presence', envelope })}\n`;

/** The text of `launch.json` in the activation directory of an observer. */
export function sampleLaunch(observer: SampleWorkload, presenceEveryMs = 60_000): string {
  const { keyId } = authorityKey;
  const header = {
    schema: 'idunn.launch/v1',
    issuer: keyId,
    audience,
    subject: observer.activation.activation,
    requestId: 'mint-1',
    sequence: 1,
  };
  const launch = {
    header,
    target: observer.target,
    incarnation: observer.key,
    activation: observer.activation.activation,
    authority: { keyId, publicKey: publicKeyOf(authorityKey.privateKey) },
    observer: null,
    endpoint: null,
    expected: observer.expected,
    state: null,
    presenceEveryMs,
    secrets: [],
  };
  return JSON.stringify(signEnvelope(launch, [authorityKey]));
}
