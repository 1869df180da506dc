import { dirname, posix } from 'node:path';
import type { Facts } from '../facts.ts';
import type { Proposal } from '../model.ts';
import { RECIPE } from './recipe.ts';
import { comment, keyOf, listOf, paragraphs, quoted, wordOf } from './toml.ts';

/** What the machine and the fleet add to a proposal. */
export interface Place {
  /** Absolute; the state's directory. */
  readonly stateRoot: string;
  readonly port: number;
}

/** The binding of a proposal. Answers also the programs that it needs and that were not found. */
export function bindingText(
  proposal: Proposal,
  facts: Facts,
  place: Place,
): { readonly text: string; readonly missing: readonly string[] } {
  const { target, steps, service, stores, variables, open, capabilities } = proposal;
  const missing = new Set<string>();
  const where = (name: string): string => {
    const found = facts.programs[name] ?? null;
    if (found === null) missing.add(name);
    return found ?? `/usr/bin/${name}`;
  };
  const programs = [...new Set(steps.map(({ argv }) => argv[0]))].map((name) => [name, where(name)] as const);
  const directories = [...new Set([...programs, ...interpreters(facts)].map(([, path]) => dirname(path)))];
  const path = [...new Set([...directories, '/usr/bin', '/bin'])].join(':');
  const text = paragraphs([
    comment(
      `What ${target} is granted on this machine: its source, its programs, its state, its ports.\n` +
        'Written by idunn init; all fields: docs/binding.md. Read anew at every idunn plan and idunn up.',
    ),
    [
      'schema = "idunn.binding/v1"',
      `target = ${quoted(target)}`,
      ...(capabilities.length === 0 ? [] : [`capabilities = ${listOf(capabilities.map(({ name }) => name))}`]),
    ].join('\n'),
    [
      '# Where commits come from. Read only, never checked out' +
        (facts.remote === null ? '.' : `; to deploy what was pushed: ${JSON.stringify(facts.remote)}.`),
      '[source]',
      `origin = ${quoted(facts.repository)}`,
      '# The newest commit of this ref is what idunn up deploys.',
      `ref = ${quoted(facts.ref)}`,
      '# Only this commit and what descends from it is ever deployed.',
      `minimum_revision = ${quoted(facts.commit)}`,
      `recipe = ${quoted(posix.join(facts.prefix, RECIPE))}`,
    ].join('\n'),
    programs.length === 0
      ? null
      : [
          '# What the steps may start; nothing else can be. They run on this machine as Idunn’s user.',
          '[runner.build]',
          'kind = "host-native"',
          `allowed_programs = { ${programs.map(([name, file]) => `${keyOf(name)} = ${quoted(file)}`).join(', ')} }`,
          `environment = { PATH = ${quoted(path)} }`,
        ].join('\n'),
    service.interpreter === null
      ? null
      : [
          '# The file that runs the program. Its digest is sealed; after an upgrade of it, deploy again.',
          `[interpreter.${keyOf(service.interpreter)}]`,
          `path = ${quoted(where(service.interpreter))}`,
        ].join('\n'),
    stores.length === 0
      ? null
      : `${comment('It belongs to the target: no deployment makes it anew.')}\n` +
        `[state]\nroot = ${quoted(place.stateRoot)}`,
    variables.length + open.length === 0
      ? null
      : [
          '[environment]',
          ...variables.flatMap(({ name, value, why }) => [`# ${why}`, `${name} = ${wordOf(value)}`]),
          ...(open.length === 0
            ? []
            : [
                '# Read by the program, and not given. Write one here and into required_environment of the recipe to give it.',
              ]),
          ...open.map(({ name, where: read }) => `# ${name} = ""  (${read})`),
        ].join('\n'),
    proposal.singleProcess
      ? [
          '# Your word that it never starts another process: here that stands in for a control group, which this',
          '# machine does not let Idunn make. Take it out when it is not true.',
          '[workload]',
          'single_process = true',
        ].join('\n')
      : null,
    '# Private ports come from [ports] of fleet.toml.\n[endpoint]',
    [
      '# Where its users find it, whichever build serves.',
      '[route]',
      ...(proposal.health.kind === 'tcp' ? ['protocol = "tcp"'] : []),
      `listen = { host = "127.0.0.1", port = ${place.port} }`,
    ].join('\n'),
  ]);
  return { text, missing: [...missing] };
}

/** Programs of ours that scripts of npm and the like look for on the path. */
const interpreters = ({ programs }: Facts): readonly (readonly [string, string])[] =>
  Object.entries(programs).flatMap(([name, path]) => (path !== null && name === 'node' ? [[name, path] as const] : []));
