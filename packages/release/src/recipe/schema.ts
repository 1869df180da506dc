import { z } from 'zod';
import {
  contractName,
  digest,
  durationMs,
  environmentName,
  HOUR_MS,
  id,
  launchWord,
  nameOf,
  positive,
  program,
  relativePath,
  relativePathOrRoot,
  target,
  word,
} from '../configuration/fields.ts';

const LIST_LIMIT = 256;
const MEBIBYTE = 1_048_576;
const list = <T extends z.ZodType>(item: T) => z.array(item).max(LIST_LIMIT).default([]);

/** A runner profile as the recipe requests it; the binding says which runner stands behind it. */
const runner = z.strictObject({
  programs: z.array(program).max(LIST_LIMIT).min(1),
  environment: list(environmentName),
  network: id.optional(),
  /** The file that pins what the steps fetch; demanded with a network. */
  lockfile: relativePath.optional(),
});

const step = z.strictObject({
  id,
  stage: z.enum(['build', 'test']).default('build'),
  profile: id,
  argv: z.array(word).min(1).max(1_024),
  cwd: relativePathOrRoot.default('.'),
  timeout_ms: durationMs(6 * HOUR_MS).default(600_000),
  output_limit_bytes: positive(1_024 * MEBIBYTE).default(16 * MEBIBYTE),
});

const externalInput = z.strictObject({
  id,
  url: z.string().max(2_048).refine(isHttpsUrl, 'an https URL without user and password'),
  sha256: digest,
  max_bytes: positive(64 * 1_024 * MEBIBYTE).default(256 * MEBIBYTE),
});

const artifact = z.strictObject({ id, path: relativePathOrRoot, kind: z.enum(['file', 'directory']) });

/** The launch contract: what is started and with which words; every grant in it comes from the binding. */
const service = z.strictObject({
  artifact: id,
  path: relativePath.optional(),
  interpreter: program.optional(),
  args: z.array(launchWord).max(1_024).default([]),
  required_environment: list(environmentName),
  secrets: list(nameOf('a secret')),
  protocol: z.enum(['http', 'tcp']).optional(),
  routed: z.boolean().default(false),
});

const freshness = durationMs(HOUR_MS).default(300_000);
const attended = {
  freshness_ms: freshness,
  interval_ms: durationMs(HOUR_MS).default(5_000),
  timeout_ms: durationMs(HOUR_MS).default(2_000),
  successes: positive(100).default(1),
  // F11: one bad reading is no verdict.
  failures: z.int().min(2).max(100).default(3),
  route_path: urlPath().optional(),
};
const httpStatus = z.int().min(100).max(599);
const health = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('idunn'), path: urlPath().optional(), freshness_ms: freshness }),
  z.strictObject({
    kind: z.literal('http'),
    path: urlPath(),
    method: z.enum(['GET', 'HEAD', 'POST']).default('GET'),
    status: z.array(httpStatus).min(1).max(LIST_LIMIT).default([200]),
    body: z.string().min(1).max(1_024).optional(),
    ...attended,
  }),
  z.strictObject({ kind: z.literal('tcp'), ...attended }),
  z.strictObject({ kind: z.literal('command'), argv: z.array(launchWord).min(1).max(1_024), ...attended }),
]);

const state = z.strictObject({
  schema: contractName,
  accepts: list(contractName),
  store: z
    .array(z.strictObject({ id, kind: z.enum(['sqlite', 'files', 'postgres']), path: relativePath }))
    .min(1)
    .max(64),
});

const migration = z.strictObject({
  artifact: id,
  path: relativePath.optional(),
  from: z.array(contractName).min(1).max(LIST_LIMIT),
  to: contractName,
  argv: z.array(launchWord).max(1_024).default([]),
  reversible: z.boolean().default(false),
});

const capability = z.strictObject({ name: contractName, schema: contractName, compatible: list(contractName) });

const dependency = z.strictObject({
  kind: z.enum(['bootstrap', 'required', 'optional', 'shared-infrastructure', 'private', 'external']),
  capability: contractName,
  schema: contractName,
  /** Names a provider only where its identity itself is the contract. */
  provider: target.optional(),
});

const ordering = z.strictObject({ after: list(target), before: list(target) });

/** The least that the service needs; the binding's limits are held against it. */
const capacity = z.strictObject({
  memory_bytes: positive(Number.MAX_SAFE_INTEGER).optional(),
  processes: positive(1_000_000).optional(),
  open_files: positive(10_000_000).optional(),
  cpu_millis: positive(1_000_000).optional(),
  disk_bytes: positive(Number.MAX_SAFE_INTEGER).optional(),
});

/** The whole vocabulary of a recipe, by top-level field. */
export const recipeShape = {
  schema: z.literal('idunn.recipe/v1'),
  target,
  runner: z.record(id, runner).default({}),
  step: list(step),
  external_input: list(externalInput),
  artifact: z.array(artifact).min(1).max(LIST_LIMIT),
  service: service.optional(),
  static_release: z.strictObject({ artifact: id }).optional(),
  health: health.optional(),
  state: state.optional(),
  migration: list(migration),
  capability: list(capability),
  dependency: list(dependency),
  ordering: ordering.optional(),
  conflicts: list(target),
  capacity: capacity.default({}),
} as const;

export type RecipeShape = typeof recipeShape;
export type Recipe = { readonly [K in keyof RecipeShape]: z.infer<RecipeShape[K]> };

function isHttpsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '';
}

function urlPath() {
  return z
    .string()
    .max(1_024)
    .regex(/^\/[\u0021-\u007e]*$/, 'a path that begins with a slash, in printable ASCII');
}
