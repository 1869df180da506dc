/** A pointer that git-lfs itself would take for one is no longer than this. */
export const LFS_POINTER_LIMIT_BYTES = 1_024;

const POINTER =
  /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?\n(?:[^\n]+\n)*oid sha256:[0-9a-f]{64}\r?\n/;

/**
 * Whether a file only stands for another one in large-file storage, by the pointer format of git-lfs (docs/spec.md
 * there); attributes are not asked, since a pointer is one without them too.
 */
export const isLfsPointer = (bytes: Buffer): boolean =>
  bytes.length <= LFS_POINTER_LIMIT_BYTES && POINTER.test(bytes.toString('latin1'));
