import type { CommandWords } from './completion-words.ts';

/** For `source <(idunn completion bash)`. */
export function bashScript(commands: readonly CommandWords[]): string {
  const cases = commands.map(({ name, options, subcommands, choices, target }) => {
    const words = [
      ...options.map(({ flag }) => flag),
      ...subcommands.filter((word) => word !== 'help'),
      ...choices,
    ].join(' ');
    return `    ${name}) words="${words}"; targets=${target ? 'yes' : 'no'} ;;`;
  });
  return `# bash completion of idunn
_idunn() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" words="" targets=no index
  COMPREPLY=()
  if [ "$previous" = --fleet ]; then
    COMPREPLY=($(compgen -d -- "$current"))
    return
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      --fleet) index=$((index + 1)) ;;
      -*) ;;
      *) command="\${COMP_WORDS[index]}"; break ;;
    esac
  done
  case "$command" in
    "") words="${commands.map(({ name }) => name).join(' ')} --fleet --json --help --version" ;;
${cases.join('\n')}
  esac
  if [ "$targets" = yes ] && [[ "$current" != -* ]]; then
    words="$words $(idunn __targets 2>/dev/null)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _idunn idunn
`;
}
