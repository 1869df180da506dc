import type { CommandWords } from './completion-words.ts';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** For `idunn completion fish | source`. */
export function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ name, description, options, subcommands, choices, list }) => {
    const after = `complete -c idunn -n '__fish_seen_subcommand_from ${name}'`;
    const words = [...subcommands, ...choices];
    return [
      `complete -c idunn -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
      ...options.map((option) => {
        const value = option.takesValue
          ? option.flag === '--fleet'
            ? " -x -a '(__fish_complete_directories)'"
            : ' -x'
          : '';
        return `${after} -l ${option.flag.slice(2)} -d ${quoted(option.description)}${value}`;
      }),
      ...(words.length > 0 ? [`${after} -a ${quoted(words.join(' '))}`] : []),
      ...(list === null ? [] : [`${after} -a '(idunn ${list} 2>/dev/null)'`]),
    ];
  });
  return `# fish completion of idunn\ncomplete -c idunn -f\n${lines.join('\n')}\n`;
}
