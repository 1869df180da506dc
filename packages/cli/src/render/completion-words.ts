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
  /** The hidden command that lists what the first argument may be; `null` when it is nothing of the fleet. */
  readonly list: '__targets' | '__subjects' | null;
  readonly choices: readonly string[];
  /** The same after each subcommand. */
  readonly nested: readonly CommandWords[];
}

/** Arguments that are something of the fleet, and what lists it. */
const LISTS: ReadonlyMap<string, CommandWords['list']> = new Map([
  ['target', '__targets'],
  ['subject', '__targets'],
  ['id', '__targets'],
  ['target-or-profile', '__subjects'],
]);

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
    list: LISTS.get(command.registeredArguments[0]?.name() ?? '') ?? null,
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
