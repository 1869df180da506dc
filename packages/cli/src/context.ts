import {
  type Answer,
  type Client,
  createClient,
  type FleetDirectories,
  fleetDirectories,
  type Located,
  locateFleet,
  operatorSocket,
  type RefusalAnswer,
} from '@idunn/client';
import type { Environment } from './edge/environment.ts';
import { exitOfRefusal } from './exit.ts';
import { renderRefusal } from './render/refusal.ts';
import { type Style, styleOf } from './render/style.ts';
import { nearest } from './render/words.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly fleet?: string;
  readonly json?: boolean;
}

/** A command's surroundings: the fleet that it is about, and the daemon of that fleet. */
export interface Context {
  readonly environment: Environment;
  readonly json: boolean;
  readonly style: Style;
  readonly located: Located;
  readonly directories: FleetDirectories;
  readonly client: Client;
}

export async function openContext(environment: Environment, options: CommonOptions): Promise<Answer<Context>> {
  const { directory, home } = environment;
  const variable = (name: string): string | undefined => environment.variable(name);
  const located = await locateFleet({ option: options.fleet, directory, home, variable });
  if (!located.ok) return located;
  const root = environment.root;
  const directories = await fleetDirectories(located.value.directory, { root, home, variable });
  if (!directories.ok) return directories;
  return {
    ok: true,
    value: {
      environment,
      json: options.json ?? false,
      style: styleOf(environment, environment.out),
      located: located.value,
      directories: directories.value,
      client: createClient(operatorSocket(directories.value)),
    },
  };
}

/**
 * Prints a refusal where its reader looks (JSON on standard output, words on standard error); answers the exit code.
 */
export function refuse(environment: Environment, json: boolean, refusal: RefusalAnswer): number {
  if (json) {
    printJson(environment, { schema: 'idunn.refusal/v1', refusal });
  } else {
    printLines(environment.err, renderRefusal(refusal, styleOf(environment, environment.err)));
  }
  return exitOfRefusal(refusal);
}

export const printLines = (sink: Environment['out'], lines: readonly string[]): void => {
  if (lines.length > 0) sink.write(`${lines.join('\n')}\n`);
};

/** One line: what reads it may be `jq` or a line at a time. */
export const printJson = (environment: Environment, value: unknown): void =>
  environment.out.write(`${JSON.stringify(value)}\n`);

/** Runs a command that asks once and shows the answer. */
export async function show<T>(
  context: Context,
  ask: Promise<Answer<T>>,
  render: (value: T) => readonly string[],
): Promise<number> {
  const answer = await ask;
  if (!answer.ok) return refuse(context.environment, context.json, withSuggestion(answer.refusal));
  if (context.json) printJson(context.environment, answer.value);
  else printLines(context.environment.out, render(answer.value));
  return 0;
}

/** Adds the target that was probably meant. */
export function withSuggestion(refusal: RefusalAnswer): RefusalAnswer {
  if (refusal.code !== 'target-unknown' || typeof refusal.detail !== 'object' || refusal.detail === null)
    return refusal;
  const { targets } = refusal.detail as { targets?: readonly string[] };
  const word = /target (\S+)$/.exec(refusal.reason)?.[1];
  const meant = word === undefined || targets === undefined ? null : nearest(word, targets);
  return meant === null ? refusal : { ...refusal, remedy: `Did you mean ${meant}? ${refusal.remedy}` };
}
