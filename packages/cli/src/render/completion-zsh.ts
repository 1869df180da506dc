import type { CommandWords } from './completion-words.ts';

const quoted = (text: string): string => text.replaceAll("'", '’').replaceAll(/[[\]:]/g, '\\$&');

const valueOf = (flag: string): string => (flag === '--fleet' ? ':directory:_files -/' : ':value:');

/** For a file `_idunn` on the fpath, or `source <(idunn completion zsh)`. */
export function zshScript(commands: readonly CommandWords[]): string {
  const cases = commands.map(({ name, options, subcommands, choices, target }) => {
    const flags = options.map(
      ({ flag, description, takesValue }) => `'${flag}[${quoted(description)}]${takesValue ? valueOf(flag) : ''}'`,
    );
    const words = [...subcommands, ...choices];
    const argument = target ? [`'1:target:_idunn_targets'`] : words.length > 0 ? [`'1:word:(${words.join(' ')})'`] : [];
    return `    ${name}) _arguments ${[...flags, ...argument].join(' ')} ;;`;
  });
  return `#compdef idunn
# zsh completion of idunn
_idunn_targets() {
  local -a targets
  targets=(\${(f)"$(idunn __targets 2>/dev/null)"})
  compadd -a targets
}
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
