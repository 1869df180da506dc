import { z } from 'zod';
import { digest, rollout } from './common.ts';

const listenAddress = z.object({ host: z.string(), port: z.int() });
const limits = z.object({
  memoryBytes: z.number().nullable(),
  processes: z.number().nullable(),
  openFiles: z.number().nullable(),
  logBytes: z.number(),
  logFiles: z.number(),
});

const namedGroup = z.object({ name: z.string(), gid: z.int() });

const launchValue = z.union([z.object({ literal: z.string() }), z.object({ slot: z.string() })]);
const packaged = z.object({ artifact: z.string(), path: z.string() });

const launch = z.object({
  program: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('artifact'), ...packaged.shape }),
    z.discriminatedUnion('origin', [
      z.object({
        kind: z.literal('interpreter'),
        origin: z.literal('host'),
        path: z.string(),
        digest,
        entry: packaged,
      }),
      z.object({
        kind: z.literal('interpreter'),
        origin: z.literal('input'),
        artifact: z.string(),
        digest,
        entry: packaged,
      }),
    ]),
  ]),
  args: z.array(launchValue),
  environment: z.record(z.string(), launchValue),
  /** Names and files of secrets; never a value (F30). */
  secrets: z.array(z.object({ name: z.string(), file: z.string() })),
  endpoint: z
    .object({ protocol: z.enum(['http', 'tcp']), host: z.string(), fromPort: z.int(), toPort: z.int() })
    .nullable(),
  limits,
  /** Whom the program runs as; the second user takes turns with the first. Left out: the daemon's own user. */
  identity: z.exactOptional(
    z.object({
      users: z
        .array(z.object({ name: z.string(), uid: z.int() }))
        .min(1)
        .max(2),
      group: namedGroup,
    }),
  ),
  singleProcess: z.boolean(),
});

const deadlines = z.object({
  materializeMs: z.number(),
  sealMs: z.number(),
  startMs: z.number(),
  warmingMs: z.number(),
  handoverMs: z.number(),
  relinquishMs: z.number(),
  readyMs: z.number(),
  routeMs: z.number(),
  stopMs: z.number(),
});

const anyRunner = {
  allowedPrograms: z.record(z.string(), z.string()),
  environment: z.record(z.string(), z.string()),
  lockfile: z.string().nullable(),
};

const runner = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('host-native'), ...anyRunner }),
  z.object({
    kind: z.literal('bubblewrap'),
    ...anyRunner,
    mounts: z.array(z.object({ source: z.string(), destination: z.string() })),
    limits: z.object({
      memoryBytes: z.number().nullable(),
      processes: z.number().nullable(),
      cpuMillis: z.number().nullable(),
    }),
    network: z
      .object({
        name: z.string(),
        hosts: z.array(z.object({ host: z.string(), port: z.int() })),
        connections: z.int(),
        maxBytes: z.number(),
      })
      .nullable(),
  }),
]);

const anyHealth = { path: z.string().nullable(), freshnessMs: z.number() };
const health = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('idunn'), ...anyHealth }),
  z.object({
    kind: z.literal('attended'),
    ...anyHealth,
    probe: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('http'),
        method: z.enum(['GET', 'HEAD', 'POST']),
        path: z.string(),
        statuses: z.array(z.int()),
        body: z.string().nullable(),
      }),
      z.object({ kind: z.literal('tcp') }),
      z.object({ kind: z.literal('command'), argv: z.array(launchValue) }),
    ]),
    intervalMs: z.number(),
    timeoutMs: z.number(),
    successes: z.int(),
    failures: z.int(),
  }),
]);

/** The whole plan, as `idunn plan --json` prints it. Content-addressed by its RFC 8785 form. */
export const plan = z.object({
  schema: z.literal('idunn.plan/v1'),
  fleet: z.string(),
  machine: z.string(),
  target: z.string(),
  source: z.object({
    origin: z.string(),
    ref: z.string(),
    selection: z.enum(['pinned-object', 'ref-head', 'signed-authorization']),
    objectFormat: z.enum(['sha1', 'sha256']),
    commit: z.string(),
    tree: z.string(),
    recipePath: z.string(),
    recipeBlob: z.string(),
    recipeDigest: digest,
    /** Submodules, a submodule before those inside it. */
    gitlinks: z.array(
      z.object({
        path: z.string(),
        origin: z.string(),
        ref: z.string(),
        objectFormat: z.enum(['sha1', 'sha256']),
        commit: z.string(),
        tree: z.string(),
      }),
    ),
    lfsPointers: z.enum(['refuse', 'keep']),
    /** By whose word the commit was selected; `null` unless `selection` is `signed-authorization`. */
    authorization: z
      .object({
        digest,
        keyId: z.string(),
        publicKey: z.string(),
        sequence: z.int(),
        build: digest.nullable(),
        notAfter: z.string(),
        envelope: z.json(),
      })
      .nullable(),
    minimumRevision: z.string(),
  }),
  bindingDigest: digest,
  inputs: z.array(z.object({ id: z.string(), url: z.string(), sha256: digest, maxBytes: z.number() })),
  runners: z.record(z.string(), runner),
  steps: z.array(
    z.object({
      id: z.string(),
      stage: z.enum(['build', 'test']),
      profile: z.string(),
      argv: z.array(z.string()).min(1),
      cwd: z.string(),
      timeoutMs: z.number(),
      outputLimitBytes: z.number(),
    }),
  ),
  artifacts: z.array(
    z.object({
      id: z.string(),
      path: z.string(),
      kind: z.enum(['file', 'directory']),
      /** A pinned input that is sealed: the interpreter. */
      from: z.literal('input').optional(),
    }),
  ),
  launch,
  health,
  /** `null`: a process that hangs is an incident and is left alone. */
  continuity: z.object({ failedAfterMs: z.number().nullable() }),
  /** Whose second freeze holds this deployment too. */
  steward: z.object({ user: z.string(), store: z.string() }).nullable(),
  state: z
    .object({
      stateId: z.string(),
      schema: z.string(),
      accepts: z.array(z.string()),
      root: z.string(),
      stores: z.array(z.object({ id: z.string(), kind: z.enum(['sqlite', 'files', 'postgres']), path: z.string() })),
      /** The group of the state's files, where the binding declares one. */
      group: z.exactOptional(namedGroup),
      lease: z.enum(['rows', 'file']),
      fence: z.enum(['epoch-raised', 'tree-empty']),
    })
    .nullable(),
  /** Only of a gated start: the trial on a copy of the state before the fence. */
  rehearsal: z.object({ timeoutMs: z.number(), copyLimitBytes: z.number() }).nullable(),
  route: z
    .object({
      name: z.string(),
      listen: listenAddress,
      protocol: z.enum(['http', 'tcp']),
      names: z.array(z.string()),
      tls: z.object({ certificates: z.array(z.object({ certificate: z.string(), key: z.string() })) }).nullable(),
      redirect: listenAddress.nullable(),
      proxyProtocol: z.boolean(),
      idleMs: z.number(),
      holdMs: z.number(),
      holdRequests: z.number(),
      holdBytes: z.number(),
    })
    .nullable(),
  capabilities: z.array(z.object({ name: z.string(), schema: z.string(), compatible: z.array(z.string()) })),
  rollout,
  deadlines,
  drainMs: z.number(),
  retainReleases: z.number(),
  signer: z.object({ keyId: z.string(), publicKey: z.string() }),
});

export type PlanAnswer = z.infer<typeof plan>;
