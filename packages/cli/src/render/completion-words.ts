import type { Command } from 'commander';

/** What a shell may offer after one command. */
export interface CommandWords {
  readonly name: string;
  readonly description: string;
  readonly subcommands: readonly string[];
  readonly options: readonly { readonly flag: string; readonly description: string; readonly takesValue: boolean }[];
  /** Whether the first argument is a target of the fleet. */
  readonly target: boolean;
  readonly choices: readonly string[];
}

const hidden = (command: Command): boolean => command.name().startsWith('__');

/** The command tree as completion scripts need it; options of the whole program go with every command. */
export function wordsOf(idunn: Command): CommandWords[] {
  const common = optionsOf(idunn);
  return idunn.commands
    .filter((command) => !hidden(command))
    .map((command) => ({
      name: command.name(),
      description: command.description(),
      subcommands: command
        .createHelp()
        .visibleCommands(command)
        .map((sub) => sub.name()),
      options: [...optionsOf(command), ...common],
      target: command.registeredArguments.some((argument) => argument.name() === 'target'),
      choices: command.registeredArguments[0]?.argChoices ?? [],
    }));
}

function optionsOf(command: Command): CommandWords['options'] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description, required, optional }) =>
      long === undefined || long === null ? [] : [{ flag: long, description, takesValue: required || optional }],
    );
}
