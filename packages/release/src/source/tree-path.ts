/** A stage's own path comes before it, and the system carries 4,096 bytes in all. */
const PATH_LIMIT_BYTES = 2_048;
/** What file systems of Linux hold in one name. */
const NAME_LIMIT_BYTES = 255;

/** Why a path of a tree cannot be written below a stage; `null` when it can. */
export function unsafePath(path: string): string | null {
  if (path.length === 0) return 'it is empty';
  if (Buffer.byteLength(path) > PATH_LIMIT_BYTES) return `it is longer than ${PATH_LIMIT_BYTES} bytes`;
  if (!path.isWellFormed() || path.includes('\uFFFD')) return 'it is not valid UTF-8';
  if (/\p{Cc}/u.test(path)) return 'it holds control characters';
  for (const name of path.split('/')) {
    if (name === '' || name === '.' || name === '..') return 'it does not stay inside the tree';
    if (Buffer.byteLength(name) > NAME_LIMIT_BYTES) return `it holds a name longer than ${NAME_LIMIT_BYTES} bytes`;
    if (namesGitData(name)) return 'it names git data';
  }
  return null;
}

/**
 * A name as the least discerning file system has it: without case, composed, without the code points that nobody sees.
 * Two names of one directory that fold to the same are one file somewhere.
 */
export const foldedName = (name: string): string =>
  name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .normalize('NFC');

/**
 * Every name that some file system takes for `.git`: folded (HFS+), with dots, spaces, a stream or a backslash behind
 * it, or by its short name (NTFS). The rules are those of git's own `is_hfs_dotgit` and `is_ntfs_dotgit`, and wider.
 */
const namesGitData = (name: string): boolean =>
  name.split('\\').some((part) => {
    const [plain = ''] = foldedName(part).split(':');
    return /^(?:\.git|git~1)[ .]*$/.test(plain);
  });
