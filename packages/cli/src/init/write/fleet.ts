import { comment, paragraphs, quoted } from './toml.ts';

/** A fleet of one's own: everything in one directory. `runtime` is absolute where the directory's path is too long. */
export function fleetText(id: string, runtime: string): string {
  return paragraphs([
    comment('A fleet: the targets that one daemon looks after. Written by idunn init; all fields: docs/fleet.md.'),
    `schema = "idunn.fleet/v1"\n# Part of every signed message; never change it.\nid = ${quoted(id)}`,
    [
      '# What Idunn keeps: records and keys, sockets, sealed releases, logs, and what can be fetched again.',
      '[directories]',
      'state = "state"',
      `runtime = ${quoted(runtime)}`,
      'releases = "releases"',
      'logs = "logs"',
      'cache = "cache"',
    ].join('\n'),
    '# Private ports of the targets, a few for each.\n[ports]\nfrom = 20_000\nto = 20_999',
  ]);
}
