/** One line of /proc/self/mountinfo, as far as it bears on a store. */
export interface Mount {
  readonly point: string;
  readonly kind: string;
  /** The directories that an overlay is made of. */
  readonly layers: readonly string[];
}

/** Takes a mountinfo text apart; octal escapes of paths are undone. */
export function parseMounts(mountinfo: string): readonly Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const point = left.split(' ')[4];
    const [kind = '', , options = ''] = right.split(' ');
    return point === undefined
      ? []
      : [{ point: unescape(point), kind, layers: kind === 'overlay' ? layersOf(options) : [] }];
  });
}

function layersOf(options: string): readonly string[] {
  return options.split(',').flatMap((option) => {
    const [name = '', value = ''] = option.split('=');
    return name === 'lowerdir' || name === 'upperdir'
      ? value
          .split(':')
          .map(unescape)
          .filter((path) => path.startsWith('/'))
      : [];
  });
}

const unescape = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/**
 * Why a store at this real path may have a second face; `null` when it has one only (section 6: it is the same
 * database).
 */
export function secondFace(path: string, mounts: readonly Mount[]): string | null {
  if (mounts.some((mount) => mount.point === path)) return 'it is a mount point of its own';
  const overlay = mounts.find((mount) => mount.layers.some((layer) => path.startsWith(`${layer}/`)));
  return overlay === undefined ? null : `it is also reached through the overlay ${overlay.point}`;
}

/** File systems on which locks or shared memory between processes cannot be relied on, by the magic of statfs(2). */
const UNFIT: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x0bd00bd0, 'Lustre'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
]);

/** The name of an unfit file system; `null` for all others. */
export const unfitFileSystem = (magic: number): string | null => UNFIT.get(magic >>> 0) ?? null;
