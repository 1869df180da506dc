/** A command as argv, with the variables that stand before it; `null` for one that needs a shell. */
export function plainWords(
  command: string,
): { readonly argv: readonly string[]; readonly variables: readonly (readonly [string, string])[] } | null {
  if (/[|&;<>()$`\\"'*?[\]#~{}!\n]/.test(command)) return null;
  const words = command.trim().split(/\s+/);
  const begin = words.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  if (begin === -1) return null;
  const variables = words.slice(0, begin).map((word): [string, string] => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)];
  });
  return { argv: words.slice(begin), variables };
}
