/** Where things are inside every sandbox: always the same, so that no path of a machine gets into an artifact. */
export const PLACES = {
  top: '/idunn',
  tree: '/idunn/tree',
  inputs: '/idunn/inputs',
  home: '/idunn/home',
  /** Admitted programs that no mount shows, each as its one file under its name. */
  programs: '/idunn/programs',
  temporary: '/tmp',
  /** Only with a network: the way out. */
  egress: '/idunn/egress',
} as const;

/** Who a step is inside: the same number with and without root. */
export const STEP_USER = { uid: 65_534, gid: 65_534 } as const;

const { uid, gid } = STEP_USER;

/** Small files of /etc that are made for the sandbox; the host's own name people and machines. */
export const MADE_FILES: Readonly<Record<string, string>> = {
  '/etc/passwd': `root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nstep:x:${uid}:${gid}:step:${PLACES.home}:/bin/sh\n`,
  '/etc/group': `root:x:0:\nstep:x:${gid}:\n`,
  '/etc/hosts': '127.0.0.1 localhost sandbox\n::1 localhost\n',
};
