import type { CommandWords } from './completion-words.ts';

/** For `source <(idunn completion bash)`. */
export function bashScript(commands: readonly CommandWords[]): string {
  const cases = commands.flatMap((command) => [
    caseOf(command.name, command),
    ...command.nested.map((nested) => caseOf(`"${command.name} ${nested.name}"`, nested)),
  ]);
  const parents = commands.filter(({ nested }) => nested.length > 0).map(({ name }) => name);
  return `# bash completion of idunn
_idunn() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" options="" words="" targets=no given=0 fleet=() index
  COMPREPLY=()
  case "$previous" in
    --fleet) COMPREPLY=($(compgen -d -- "$current")); return ;;
    ${valueFlags(commands).join('|')}) return ;;
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      --fleet) index=$((index + 1)); fleet=(--fleet "\${COMP_WORDS[index]}") ;;
      ${valueFlags(commands).join('|')}) index=$((index + 1)) ;;
      -*) ;;
      *)
        case "$command" in
          "") command="\${COMP_WORDS[index]}" ;;
          ${parents.join('|')}) command="$command \${COMP_WORDS[index]}" ;;
          *) given=$((given + 1)) ;;
        esac ;;
    esac
  done
  case "$command" in
    "") words="${commands.map(({ name }) => name).join(' ')}"; options="--fleet --json --help --version" ;;
${cases.join('\n')}
  esac
  if [ "$given" -gt 0 ]; then
    words=""
  elif [ "$targets" = yes ] && [[ "$current" != -* ]]; then
    words="$words $(idunn __targets "\${fleet[@]}" 2>/dev/null)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  fi
}
complete -F _idunn idunn
`;
}

function caseOf(pattern: string, { options, subcommands, choices, target }: CommandWords): string {
  const flags = options.map(({ flag }) => flag).join(' ');
  const words = [...subcommands, ...choices].join(' ');
  return `    ${pattern}) words="${words}"; options="${flags}"; targets=${target ? 'yes' : 'no'} ;;`;
}

/** Options that take a word, which is no argument of the command; `--fleet` is looked at by itself. */
function valueFlags(commands: readonly CommandWords[]): string[] {
  const all = commands.flatMap((command) => [command, ...command.nested]).flatMap(({ options }) => options);
  const flags = all.filter(({ takesValue }) => takesValue).flatMap(({ flag, short }) => [flag, short ?? flag]);
  return [...new Set(flags)].filter((flag) => flag !== '--fleet');
}
