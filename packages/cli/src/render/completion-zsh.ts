import type { CommandWords } from './completion-words.ts';

const quoted = (text: string): string => text.replaceAll("'", '’').replaceAll(/[[\]:]/g, '\\$&');

const valueOf = (flag: string): string => (flag === '--fleet' ? ':directory:_files -/' : ':value:');

const LISTS = ['__targets', '__subjects'] as const;

const listFunction = (list: (typeof LISTS)[number]): string => `_idunn${list.slice(1)}() {
  local -a found
  found=(\${(f)"$(idunn ${list} 2>/dev/null)"})
  compadd -a found
}`;

/** For a file `_idunn` on the fpath, or `source <(idunn completion zsh)`. */
export function zshScript(commands: readonly CommandWords[]): string {
  const cases = commands.map(({ name, options, subcommands, choices, list }) => {
    const flags = options.map(
      ({ flag, description, takesValue }) => `'${flag}[${quoted(description)}]${takesValue ? valueOf(flag) : ''}'`,
    );
    const words = [...subcommands, ...choices];
    const argument =
      list === null
        ? words.length > 0
          ? [`'1:word:(${words.join(' ')})'`]
          : []
        : [`'1:target:_idunn${list.slice(1)}'`];
    return `    ${name}) _arguments ${[...flags, ...argument].join(' ')} ;;`;
  });
  return `#compdef idunn
# zsh completion of idunn
${LISTS.map(listFunction).join('\n')}
_idunn() {
  local -a commands
  commands=(
${commands.map(({ name, description }) => `    '${name}:${quoted(description)}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=\${words[2]}
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _idunn ]; then _idunn "$@"; else compdef _idunn idunn; fi
`;
}
