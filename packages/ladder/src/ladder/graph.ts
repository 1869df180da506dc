/** Names and where each leads, in the order of their declaration. */
export type Edges = ReadonlyMap<string, readonly string[]>;

/** The first circle that a walk in declared order meets, closed: `[a, b, a]`; `null` when there is none. */
export function cycleIn(edges: Edges): readonly string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): readonly string[] | null => {
    if (done.has(node)) return null;
    const start = path.indexOf(node);
    if (start >= 0) return [...path.slice(start), node];
    path.push(node);
    for (const next of edges.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle !== null) return cycle;
    }
    path.pop();
    done.add(node);
    return null;
  };
  for (const node of edges.keys()) {
    const cycle = visit(node);
    if (cycle !== null) return cycle;
  }
  return null;
}

/**
 * A shortest way along the edges, both ends included; the one declared first among equals; `null` when none leads
 * there.
 */
export function shortestPath(edges: Edges, from: string, to: string): readonly string[] | null {
  const cameFrom = new Map<string, string | null>([[from, null]]);
  for (const node of cameFrom.keys()) {
    if (node === to) return backFrom(to, cameFrom);
    for (const next of edges.get(node) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, node);
  }
  return null;
}

function backFrom(end: string, cameFrom: ReadonlyMap<string, string | null>): readonly string[] {
  const path: string[] = [];
  for (let node: string | null = end; node !== null; node = cameFrom.get(node) ?? null) path.unshift(node);
  return path;
}

/** How many edges the longest way to each name has. The graph has no circle. */
export function depths(edges: Edges): ReadonlyMap<string, number> {
  const before = new Map([...edges.keys()].map((node) => [node, [] as string[]]));
  for (const [node, nexts] of edges) for (const next of nexts) before.get(next)?.push(node);
  const known = new Map<string, number>();
  const depthOf = (node: string): number => {
    const depth = known.get(node) ?? Math.max(-1, ...(before.get(node) ?? []).map(depthOf)) + 1;
    known.set(node, depth);
    return depth;
  };
  for (const node of edges.keys()) depthOf(node);
  return known;
}
