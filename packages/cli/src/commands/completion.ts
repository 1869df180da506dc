import { locateFleet, profileNames } from '@idunn/client';
import type { Command } from 'commander';
import { boundTargets } from '../bound.ts';
import type { CommonOptions } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import { bashScript } from '../render/completion-bash.ts';
import { fishScript } from '../render/completion-fish.ts';
import { type CommandWords, wordsOf } from '../render/completion-words.ts';
import { zshScript } from '../render/completion-zsh.ts';

const SCRIPTS: Readonly<Record<'bash' | 'zsh' | 'fish', (words: readonly CommandWords[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `idunn completion SHELL`: made from the command tree itself, so that it never lags behind. */
export function completion(environment: Environment, idunn: Command, shell: 'bash' | 'zsh' | 'fish'): number {
  environment.out.write(SCRIPTS[shell](wordsOf(idunn)));
  return EXIT.done;
}

/**
 * The targets by the names of their binding files, with `subjects` the profiles too; needs no daemon, and says nothing
 * when there is no fleet.
 */
export async function listTargets(
  environment: Environment,
  options: CommonOptions,
  subjects: boolean,
): Promise<number> {
  const { directory, home } = environment;
  const variable = (name: string): string | undefined => environment.variable(name);
  const located = await locateFleet({ option: options.fleet, directory, home, variable });
  if (!located.ok) return EXIT.done;
  if (subjects) {
    for (const name of await profileNames(located.value.directory)) environment.out.write(`profile:${name}\n`);
  }
  for (const target of (await boundTargets(located.value.directory)) ?? []) environment.out.write(`${target}\n`);
  return EXIT.done;
}
