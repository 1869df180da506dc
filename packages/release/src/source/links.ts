import { posix } from 'node:path';

const HOPS_LIMIT = 40;

/**
 * Whether the link at `path` leads to somewhere inside the tree, step by step as the kernel would walk it: a name in
 * the middle may itself be a link, so comparing text is not enough. `links` maps each link's path to its target, all
 * relative to the tree.
 */
export function staysInside(links: ReadonlyMap<string, string>, path: string): boolean {
  let hops = 0;
  const walk = (from: readonly string[], target: string): readonly string[] | null => {
    if (posix.isAbsolute(target)) return null;
    let at = from;
    for (const name of target.split('/')) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (at.length === 0) return null;
        at = at.slice(0, -1);
        continue;
      }
      const next = links.get([...at, name].join('/'));
      if (next === undefined) {
        at = [...at, name];
        continue;
      }
      hops += 1;
      const landed = hops > HOPS_LIMIT ? null : walk(at, next);
      if (landed === null) return null;
      at = landed;
    }
    return at;
  };
  return walk([], path) !== null;
}
