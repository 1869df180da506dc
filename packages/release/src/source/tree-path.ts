const PATH_LIMIT = 4_096;

/** Why a path of a tree cannot be written below a stage; `null` when it can. */
export function unsafePath(path: string): string | null {
  if (path.length === 0 || path.length > PATH_LIMIT) return 'it is empty or too long';
  if (!path.isWellFormed() || path.includes('\uFFFD')) return 'it is not valid UTF-8';
  if (/\p{Cc}/u.test(path)) return 'it holds control characters';
  for (const name of path.split('/')) {
    if (name === '' || name === '.' || name === '..') return 'it does not stay inside the tree';
    if (name.toLowerCase() === '.git') return 'it names git data';
  }
  return null;
}
