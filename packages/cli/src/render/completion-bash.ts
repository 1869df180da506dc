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
  local line=() word index
  # The shell may take a colon for the end of a word: profile:all is one all the same.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ "\${#line[@]}" -gt 0 && ("$word" == :* || "\${line[-1]}" == *:) ]]; then
      line[-1]+="$word"
    else
      line+=("$word")
    fi
  done
  local last=$((\${#line[@]} - 1))
  local current="\${line[last]}" previous="\${line[last-1]}"
  local command="" options="" words="" list="" given=0 fleet=()
  COMPREPLY=()
  case "$previous" in
    --fleet) COMPREPLY=($(compgen -d -- "$current")); return ;;
    ${valueFlags(commands).join('|')}) return ;;
  esac
  for ((index = 1; index < last; index++)); do
    case "\${line[index]}" in
      --fleet) index=$((index + 1)); fleet=(--fleet "\${line[index]}") ;;
      ${valueFlags(commands).join('|')}) index=$((index + 1)) ;;
      -*) ;;
      *)
        case "$command" in
          "") command="\${line[index]}" ;;
          ${parents.join('|')}) command="$command \${line[index]}" ;;
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
  elif [ -n "$list" ] && [[ "$current" != -* ]]; then
    words="$words $(idunn "$list" "\${fleet[@]}" 2>/dev/null)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  fi
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
  fi
}
complete -F _idunn idunn
`;
}

function caseOf(pattern: string, { options, subcommands, choices, list }: CommandWords): string {
  const flags = options.map(({ flag }) => flag).join(' ');
  const words = [...subcommands, ...choices].join(' ');
  return `    ${pattern}) words="${words}"; options="${flags}"; list=${list ?? '""'} ;;`;
}

/** Options that take a word, which is no argument of the command; `--fleet` is looked at by itself. */
function valueFlags(commands: readonly CommandWords[]): string[] {
  const all = commands.flatMap((command) => [command, ...command.nested]).flatMap(({ options }) => options);
  const flags = all.filter(({ takesValue }) => takesValue).flatMap(({ flag, short }) => [flag, short ?? flag]);
  return [...new Set(flags)].filter((flag) => flag !== '--fleet');
}
