import { posix } from 'node:path';
import type { BuildStep, Proposal } from '../model.ts';
import { comment, listOf, paragraphs, quoted } from './toml.ts';

/** Where a recipe is, from the directory of its program. */
export const RECIPE = 'deployment/idunn/recipe.toml';

const HEALTH: Readonly<Record<Proposal['health']['kind'], string>> = {
  idunn: 'It embeds @idunn/workload and signs its own presence; the path answers 2xx while it is well.',
  http: 'Asked again and again while it runs; only 200 counts as well, and one bad answer alone is no verdict.',
  tcp: 'Connected to again and again while it runs; one refused connection alone is no verdict.',
};

/** The recipe of a proposal, with what each line does. `prefix` is the program's directory, from the tree's top. */
export function recipeText(proposal: Proposal, prefix: string): string {
  const { target, steps, artifacts, service, args, health, stores, schema, capabilities, variables } = proposal;
  const at = (path: string): string => posix.join(prefix === '' ? '.' : prefix, path);
  const programs = [...new Set(steps.map(({ argv }) => argv[0]))];
  return paragraphs([
    comment(
      `What ${target} is made of and what it asks for. It asks; the operator's binding grants.\n` +
        'Written by idunn init from what it found here: read it, correct it, commit it. All fields: docs/recipe.md.',
    ),
    `schema = "idunn.recipe/v1"\n# The name in every command: idunn up ${target}.\ntarget = ${quoted(target)}`,
    programs.length === 0
      ? null
      : `${comment('Programs that the steps start; the binding says where each is.')}\n` +
        `[runner.build]\nprograms = ${listOf(programs)}`,
    steps.length === 0 ? comment('No [[step]]: the committed files are started as they are.') : null,
    ...steps.map((step) => stepText(step, prefix)),
    comment('What is sealed and installed, read-only, after the steps.'),
    ...artifacts.map(
      ({ id, path, kind }) => `[[artifact]]\nid = ${quoted(id)}\npath = ${quoted(at(path))}\nkind = ${quoted(kind)}`,
    ),
    [
      '# How it is started. There is no shell: each word stands for itself.',
      '[service]',
      `artifact = ${quoted(service.artifact)}`,
      ...(service.path === null ? [] : [`path = ${quoted(service.path)}`]),
      ...(service.interpreter === null
        ? []
        : [
            '# The binding says which file on the machine that is; its digest is sealed.',
            `interpreter = ${quoted(service.interpreter)}`,
          ]),
      ...(args.length === 0 ? [] : ['# Words after it; a slot is filled in at the start.', `args = ${listOf(args)}`]),
      ...(variables.length === 0
        ? []
        : [
            '# Variables that the binding must give a value to.',
            `required_environment = ${listOf(variables.map(({ name }) => name))}`,
          ]),
      '# A private port for each start, and one stable route that is moved from build to build.',
      `protocol = "${health.kind === 'tcp' ? 'tcp' : 'http'}"`,
      'routed = true',
    ].join('\n'),
    [
      `# ${HEALTH[health.kind]}`,
      '[health]',
      `kind = ${quoted(health.kind)}`,
      ...(health.kind === 'tcp' ? [] : [`path = ${quoted(health.path)}`]),
    ].join('\n'),
    stores.length === 0
      ? comment('No [state]: nothing that it writes is kept.')
      : [
          '# What it keeps. The name of its shape changes when an older build could not open it any more.',
          '[state]',
          `schema = ${quoted(schema)}`,
          ...stores.flatMap(({ id, kind, path }) => [
            '',
            `[[state.store]]`,
            `id = ${quoted(id)}`,
            `kind = ${quoted(kind)}`,
            "# From the state's directory, which the binding names.",
            `path = ${quoted(path)}`,
          ]),
        ].join('\n'),
    ...capabilities.map(({ name, schema: of }) => `[[capability]]\nname = ${quoted(name)}\nschema = ${quoted(of)}`),
  ]);
}

const stepText = ({ id, stage, argv, timeoutMs }: BuildStep, prefix: string): string =>
  [
    ...(stage === 'test' ? ['# A step that fails ends the deployment; what serves is not touched.'] : []),
    '[[step]]',
    `id = ${quoted(id)}`,
    ...(stage === 'test' ? ['stage = "test"'] : []),
    'profile = "build"',
    `argv = ${listOf(argv)}`,
    ...(prefix === '' ? [] : [`cwd = ${quoted(prefix)}`]),
    `timeout_ms = ${timeoutMs}`,
  ].join('\n');
