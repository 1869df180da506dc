import { type Digest, digestBytes, digestJson } from '@idunn/kernel';
import type { IncarnationKey } from '@idunn/readiness';
import type { Plan, SealedRelease } from '@idunn/release';
import type { Behaviour } from './behaviour.ts';

export interface TargetShape {
  readonly stores: number;
  readonly routed: boolean;
  /** It knows nothing of Idunn: gated with state, overlapping without. */
  readonly attended?: boolean;
  /** Incumbent and candidate cannot stand side by side. */
  readonly alone?: boolean;
  /** A directory beside the rows: only the end of every process fences. */
  readonly mixed?: boolean;
  /** The fleet that it is deployed by; ours where it is left out. */
  readonly fleet?: string;
}

export const OUR_FLEET = 'simulated';

/** A ref that ends so is built to know nothing of Idunn, or to know it again: the other kind than the target's. */
export const OTHER_KIND = '~';
export const shapeAt = (shape: TargetShape, ref: string): TargetShape =>
  ref.endsWith(OTHER_KIND) ? { ...shape, attended: shape.attended !== true } : shape;

/** What the simulated repositories and bindings hold: one ref for each way to behave. */
export const refOf = (behaviour: Behaviour, revision: number): string => `${behaviour}/${revision}`;
export const behaviourOf = (ref: string): Behaviour => ref.slice(0, ref.indexOf('/')) as Behaviour;

const hex = (text: string, length: number): string => digestOf(text).slice(7, 7 + length);
const digests = new Map<string, Digest>();
const DIGESTS_LIMIT = 16_384;

export function digestOf(text: string): Digest {
  const known = digests.get(text) ?? digestBytes(text);
  if (digests.size === DIGESTS_LIMIT) digests.clear();
  digests.set(text, known);
  return known;
}

/** What a driver tells of that speaks of something else: nobody in the world is called so. */
export const ELSEWHERE = {
  incarnation: `elsewhere@${digestOf('elsewhere')}` as IncarnationKey,
  activation: 'act-elsewhere',
};

/** The commit of a plan names its behaviour to the simulated world alone. */
export const commitOf = (target: string, ref: string): string => hex(`${target} ${ref}`, 40);

const plans = new Map<string, Plan>();
const PLANS_LIMIT = 16_384;

/** What a ref of a target is compiled to; the same question has one and the same answer. */
export function planFor(target: string, ref: string, shape: TargetShape, schema: string): Plan {
  const asked = `${target} ${ref} ${JSON.stringify(shape)} ${schema}`;
  const known = plans.get(asked);
  if (known !== undefined) return known;
  const plan = compiled(target, ref, shape, schema);
  if (plans.size === PLANS_LIMIT) plans.clear();
  plans.set(asked, plan);
  return plan;
}

function compiled(target: string, ref: string, shape: TargetShape, schema: string): Plan {
  const ports = shape.alone === true ? { fromPort: 19_000, toPort: 19_000 } : { fromPort: 20_000, toPort: 29_999 };
  return {
    schema: 'idunn.plan/v1',
    fleet: shape.fleet ?? OUR_FLEET,
    machine: 'local',
    target,
    source: {
      origin: `/repositories/${target}`,
      ref: 'refs/heads/main',
      selection: 'ref-head',
      objectFormat: 'sha1',
      commit: commitOf(target, ref),
      tree: hex(`tree ${ref}`, 40),
      recipePath: 'deployment/idunn/recipe.toml',
      recipeBlob: hex(`recipe ${ref}`, 40),
      recipeDigest: digestOf(`recipe ${ref}`),
      gitlinks: [],
      lfsPointers: 'refuse',
      authorization: null,
      minimumRevision: hex('first', 40),
    },
    bindingDigest: digestOf(`binding ${target}`),
    inputs: [],
    runners: {},
    steps: [],
    artifacts: [{ id: 'app', path: 'app', kind: 'directory' }],
    launch: {
      program: { kind: 'artifact', artifact: 'app', path: 'main' },
      args: [],
      environment: {},
      secrets: [],
      endpoint: shape.routed ? { protocol: 'http', host: '127.0.0.1', ...ports } : null,
      limits: { memoryBytes: null, processes: null, openFiles: null, logBytes: 1_000_000, logFiles: 2 },
      singleProcess: true,
    },
    health: healthOf(shape),
    continuity: { failedAfterMs: null },
    steward: null,
    rehearsal: shape.attended === true && shape.stores > 0 ? { timeoutMs: 1_000, copyLimitBytes: 1_000_000 } : null,
    state:
      shape.stores === 0
        ? null
        : {
            stateId: `${target}-state`,
            schema,
            accepts: [schema],
            root: `/state/${target}`,
            stores: Array.from({ length: shape.stores }, (_, index) => ({
              id: `store-${index}`,
              kind: 'sqlite' as const,
              path: `${index}.db`,
            })),
            lease: shape.attended === true ? 'file' : 'rows',
            fence: shape.attended === true || shape.mixed === true ? 'tree-empty' : 'epoch-raised',
          },
    route: shape.routed
      ? {
          name: shape.fleet === undefined ? target : `${shape.fleet}-${target}`,
          listen: { host: '127.0.0.1', port: 8_000 },
          protocol: 'http',
          names: [],
          tls: null,
          redirect: null,
          proxyProtocol: false,
          idleMs: 3_600_000,
          holdMs: 400,
          holdRequests: 1_000,
          holdBytes: 1_000_000,
        }
      : null,
    capabilities: [],
    rollout:
      shape.alone === true
        ? { strategy: 'stop-then-start', reason: 'it owns a device' }
        : { strategy: 'candidate-then-promote' },
    deadlines: {
      materializeMs: 4_000,
      sealMs: 4_000,
      startMs: 1_500,
      warmingMs: 1_500,
      handoverMs: 1_500,
      relinquishMs: 120,
      readyMs: 1_000,
      routeMs: 1_000,
      stopMs: 100,
    },
    drainMs: 200,
    retainReleases: 3,
    signer: { keyId: `ed25519:${hex(target, 32)}`, publicKey: Buffer.from(hex(target, 32)).toString('base64') },
  };
}

function healthOf(shape: TargetShape): Plan['health'] {
  const path = shape.routed ? '/version' : null;
  const freshnessMs = 600_000;
  if (shape.attended !== true) return { kind: 'idunn', path, freshnessMs };
  const counts = { intervalMs: 50, timeoutMs: 50, successes: 1, failures: 3 };
  return { kind: 'attended', path, freshnessMs, probe: { kind: 'tcp' }, ...counts };
}

const releases = new WeakMap<Plan, SealedRelease>();

export function sealedFor(plan: Plan): SealedRelease {
  const known = releases.get(plan) ?? sealed(plan);
  releases.set(plan, known);
  return known;
}

function sealed(plan: Plan): SealedRelease {
  const body = {
    schema: 'idunn.sealed-release/v1' as const,
    target: plan.target,
    build: digestJson({ build: plan.source.commit }),
    plan: digestJson(plan),
    bindingDigest: plan.bindingDigest,
    launchDigest: digestJson(plan.launch),
    revision: plan.source.commit,
    executableDigest: digestOf(`executable ${plan.source.commit}`),
    entry: null,
    artifacts: [],
    provenance: digestOf(`provenance ${plan.source.commit}`),
    sealedBy: 'simulator',
  };
  return { ...body, release: digestJson(body) };
}
