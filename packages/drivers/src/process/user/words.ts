/** From util-linux; it becomes the next program, and so keeps pid, group and descriptors. */
export const SETPRIV = '/usr/bin/setpriv';

/** Whom one activation runs as, by number. */
export interface RunsAs {
  readonly uid: number;
  readonly gid: number;
  /** The declared state group, the only supplementary one. */
  readonly stateGid: number | null;
}

/** Words before argv: another user, no group but its own, no capability, and no way back to any. */
export function userWords(runs: RunsAs | null): readonly string[] {
  if (runs === null) return [];
  const { uid, gid, stateGid } = runs;
  return [
    SETPRIV,
    `--reuid=${uid}`,
    `--regid=${gid}`,
    stateGid === null ? '--clear-groups' : `--groups=${stateGid}`,
    '--no-new-privs',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--bounding-set=-all',
    '--',
  ];
}
