import { z } from 'zod';
import {
  absolutePath,
  contractName,
  durationMs,
  environmentName,
  HOUR_MS,
  id,
  launchWord,
  nameOf,
  objectId,
  port,
  positive,
  program,
  ref,
  relativePath,
  target,
  word,
} from '../configuration/fields.ts';

const LIST_LIMIT = 256;
const MEBIBYTE = 1_048_576;
const list = <T extends z.ZodType>(item: T) => z.array(item).max(LIST_LIMIT).default([]);
const DAY_MS = 24 * HOUR_MS;
const hostName = z.string().refine(isHostName, 'a host name in lower case, "*." in front for one label of any name');

const origin = z.string().max(4_096).refine(isOrigin, 'an https URL without user and password, or an absolute path');

const publicKey = z.string().refine(isPublicKey, 'a raw Ed25519 public key: 32 bytes in base64');

const source = z.strictObject({
  origin,
  ref,
  minimum_revision: objectId,
  selection: z.enum(['ref-head', 'pinned-object', 'signed-authorization']).default('ref-head'),
  /** With `pinned-object`: the commit that is deployed. */
  commit: objectId.optional(),
  /** With `signed-authorization`: the public keys whose word selects a commit. */
  authorizers: list(publicKey),
  /** The authorities whose exported builds may be sealed here without building again. */
  builders: list(publicKey),
  recipe: relativePath.default('deployment/idunn/recipe.toml'),
  /** The submodules that are admitted; one that is not named here is refused. */
  submodule: list(z.strictObject({ path: relativePath, origin, ref })),
  lfs_pointers: z.enum(['refuse', 'keep']).default('refuse'),
  colliding_names: z.enum(['refuse', 'keep']).default('refuse'),
});

const mount = z.strictObject({ source: absolutePath, destination: absolutePath, writable: z.boolean().default(false) });

/** A place outside as `host:port`: a name or an IPv4 address, exactly one port. */
const place = z
  .string()
  .max(260)
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?:[1-9][0-9]{0,4}$/, 'host:port, the host in lower case')
  .refine((text) => Number(text.split(':')[1]) <= 65_535, 'a port of at most 65535');

const network = z.strictObject({
  hosts: z.array(place).min(1).max(LIST_LIMIT),
  connections: positive(1_024).default(32),
  max_bytes: positive(Number.MAX_SAFE_INTEGER).default(4_096 * MEBIBYTE),
});

const runnerMount = z.strictObject({ source: absolutePath, destination: absolutePath.optional() });

const runner = z.strictObject({
  kind: z.enum(['host-native', 'bubblewrap', 'container']),
  /** With `container`: the image by digest. */
  image: word.optional(),
  allowed_programs: z.record(program, absolutePath).default({}),
  environment: z.record(environmentName, word).default({}),
  network: id.optional(),
  mount: list(runnerMount),
  devices: list(absolutePath),
  memory_bytes: positive(Number.MAX_SAFE_INTEGER).optional(),
  processes: positive(1_000_000).optional(),
  cpu_millis: positive(1_000_000).optional(),
});

/** `path` for the host's own interpreter, `input` for one that is a pinned input of the recipe. */
const interpreter = z.strictObject({
  origin: z.enum(['host', 'input']).default('host'),
  path: absolutePath.optional(),
  input: id.optional(),
});

/** The name of a user or a group, never a number: numbers are what the machine answers. */
const accountName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.-]{0,31}$/, 'the name of a user or group');
const groupId = z.int().positive().max(4_294_967_294);

/** Per-target directories in place of the fleet's. */
const roots = z.strictObject({
  source: absolutePath.optional(),
  cache: absolutePath.optional(),
  output: absolutePath.optional(),
  release: absolutePath.optional(),
  runtime: absolutePath.optional(),
});

const state = z.strictObject({
  id: id.optional(),
  root: absolutePath,
  transition: z.enum(['none', 'migrate', 'fresh-root']).default('none'),
  irreversible_cut: z.enum(['refuse', 'permit']).default('refuse'),
  backup_root: absolutePath.optional(),
  /** Beside the workload's own users; the number has to be the name's. */
  group: z.strictObject({ name: accountName, gid: groupId }).optional(),
});

const workload = z.strictObject({
  driver: z.enum(['process', 'systemd', 'container', 'static-release']).default('process'),
  single_process: z.boolean().default(false),
  unit_namespace: word.optional(),
  release_root: absolutePath.optional(),
  current_link: absolutePath.optional(),
  carry: z.strictObject({ source: absolutePath, destination: relativePath }).optional(),
  user: accountName.optional(),
  /** Takes turns with `user`. */
  alternate_user: accountName.optional(),
  /** The primary group; that of `user` otherwise. */
  group: accountName.optional(),
  network: id.optional(),
  mount: list(mount),
  devices: list(absolutePath),
});

const endpoint = z.strictObject({
  host: z.literal('127.0.0.1').default('127.0.0.1'),
  from_port: port.optional(),
  to_port: port.optional(),
});

const listen = z.strictObject({ host: z.string().min(1).max(255).default('127.0.0.1'), port });
const keyPair = { certificate: absolutePath, key: absolutePath };

const route = z.strictObject({
  driver: z.enum(['router', 'haproxy', 'nginx', 'nginx-stream']).default('router'),
  name: id.optional(),
  protocol: z.enum(['http', 'tcp']).default('http'),
  listen,
  /** By which the route is told apart from others on its address. */
  names: list(hostName),
  tls: z.strictObject({ ...keyPair, more: z.array(z.strictObject(keyPair)).max(63).default([]) }).optional(),
  redirect: listen.optional(),
  proxy_protocol: z.boolean().default(false),
  idle_ms: durationMs(DAY_MS).default(HOUR_MS),
  configuration: absolutePath.optional(),
  firewall: z.boolean().default(false),
  hold_ms: durationMs(60_000).default(2_000),
  hold_requests: positive(100_000).default(1_024),
  hold_bytes: positive(1_024 * MEBIBYTE).default(16 * MEBIBYTE),
});

const limits = z.strictObject({
  memory_bytes: positive(Number.MAX_SAFE_INTEGER).optional(),
  processes: positive(1_000_000).optional(),
  open_files: positive(10_000_000).optional(),
  cpu_millis: positive(1_000_000).optional(),
  log_bytes: positive(1_024 * MEBIBYTE).default(8 * MEBIBYTE),
  log_files: positive(100).default(4),
});

const rollout = z.strictObject({
  strategy: z.enum(['candidate-then-promote', 'stop-then-start']).default('candidate-then-promote'),
  reason: z.string().trim().min(1).max(300).optional(),
  drain_ms: durationMs(DAY_MS).default(30_000),
});

const deadline = (defaultMs: number) => durationMs(DAY_MS).default(defaultMs);
const deadlines = z.strictObject({
  materialize_ms: deadline(10 * 60_000),
  seal_ms: deadline(60 * 60_000),
  start_ms: deadline(30_000),
  warming_ms: deadline(60_000),
  handover_ms: deadline(10_000),
  relinquish_ms: deadline(5_000),
  ready_ms: deadline(60_000),
  route_ms: deadline(10_000),
  stop_ms: deadline(10_000),
});

const continuity = z.strictObject({ failed_after_ms: durationMs(DAY_MS).optional() });
const rehearsal = z.strictObject({
  timeout_ms: durationMs(HOUR_MS).default(30_000),
  copy_limit_bytes: positive(Number.MAX_SAFE_INTEGER).default(1_024 * MEBIBYTE),
});

const steward = z.strictObject({ user: word, store: absolutePath });

const externalCapability = z.strictObject({ name: contractName, schema: contractName, endpoint: word });

/** The whole vocabulary of a binding, by top-level field. */
export const bindingShape = {
  schema: z.literal('idunn.binding/v1'),
  target,
  node: id.default('local'),
  replicas: positive(1_000).default(1),
  source,
  runner: z.record(id, runner).default({}),
  network: z.record(id, network).default({}),
  interpreter: z.record(program, interpreter).default({}),
  roots: roots.default({}),
  state: state.optional(),
  workload: workload.default(workload.parse({})),
  environment: z.record(environmentName, launchWord).default({}),
  operator_slot: z.record(id, word).default({}),
  secret: z.record(nameOf('a secret'), z.strictObject({ file: absolutePath })).default({}),
  capabilities: list(contractName),
  external_capability: list(externalCapability),
  endpoint: endpoint.optional(),
  route: route.optional(),
  signer: z.strictObject({ public_key: publicKey }).optional(),
  trust: z.strictObject({ anchors: absolutePath }).optional(),
  limits: limits.default(limits.parse({})),
  rollout: rollout.default(rollout.parse({})),
  deadlines: deadlines.default(deadlines.parse({})),
  continuity: continuity.default({}),
  rehearsal: rehearsal.default(rehearsal.parse({})),
  retention: z.strictObject({ releases: z.int().min(2).max(1_000).default(5) }).default({ releases: 5 }),
  steward: steward.optional(),
} as const;

export type BindingShape = typeof bindingShape;
export type Binding = { readonly [K in keyof BindingShape]: z.infer<BindingShape[K]> };

function isHostName(text: string): boolean {
  const labels = (text.startsWith('*.') ? text.slice(2) : text).split('.');
  return text.length <= 253 && labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

function isOrigin(text: string): boolean {
  if (absolutePath.safeParse(text).success) return true;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '';
}

function isPublicKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === text;
}
