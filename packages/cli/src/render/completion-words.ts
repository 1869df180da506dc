import type { Command } from 'commander';

/** What a shell may offer after one command. */
export interface CommandWords {
  readonly name: string;
  readonly description: string;
  readonly subcommands: readonly string[];
  readonly options: readonly {
    readonly flag: string;
    readonly short: string | null;
    readonly description: string;
    readonly takesValue: boolean;
  }[];
  /** Whether the first argument is a target of the fleet. */
  readonly target: boolean;
  readonly choices: readonly string[];
  /** The same after each subcommand. */
  readonly nested: readonly CommandWords[];
}

/** Arguments that are a target, or may be one. */
const TARGETS: ReadonlySet<string> = new Set(['target', 'subject', 'id']);

/** The command tree as completion scripts need it; options of the whole program go with every command. */
export function wordsOf(idunn: Command): CommandWords[] {
  const common = optionsOf(idunn).filter(({ flag }) => flag !== '--help' && flag !== '--version');
  const visible = (command: Command): Command[] =>
    command
      .createHelp()
      .visibleCommands(command)
      .filter((sub) => sub.name() !== 'help');
  const wordsAfter = (command: Command): CommandWords => ({
    name: command.name(),
    description: command.description(),
    subcommands: visible(command).map((sub) => sub.name()),
    options: [...optionsOf(command), ...common],
    target: command.registeredArguments.some((argument) => TARGETS.has(argument.name())),
    choices: command.registeredArguments[0]?.argChoices ?? [],
    nested: visible(command).map(wordsAfter),
  });
  return visible(idunn).map(wordsAfter);
}

function optionsOf(command: Command): CommandWords['options'] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, short = null, description, required, optional }) =>
      long === undefined || long === null ? [] : [{ flag: long, short, description, takesValue: required || optional }],
    );
}
