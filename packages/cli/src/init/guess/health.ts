import { anyOf, evidence, type Facts, sources } from '../facts.ts';

const PATHS = ['healthz', 'health', 'livez', 'readyz', 'api/health', 'status', 'up', 'ping'];

/** A path that the sources name and that by its name answers for the program's health. */
export function guessHealthPath(facts: Facts): { readonly path: string; readonly where: string } | null {
  for (const name of PATHS) {
    const found = evidence(sources(facts), new RegExp(`["'\`](?:[A-Z]+ )?/${name}/?["'\`]`));
    if (found !== null) return { path: `/${name}`, where: found.where };
  }
  return null;
}

const LISTENS = anyOf(
  /\.listen\(|createServer\(|\bexpress\(|fastify\(|\bHono\(/,
  /HTTPServer\(|serve_forever|make_server\(|\bFlask\(|\bFastAPI\(|uvicorn|get_wsgi_application/,
  /ListenAndServe/,
);

const STARTS_PROCESSES = anyOf(
  /["'](?:node:)?(?:child_process|cluster)["']/,
  /^\s*(?:import|from)\s[^\n]*\b(?:subprocess|multiprocessing)\b/,
  /\bos\.(?:fork|system|popen|spawn\w*)\(|ProcessPoolExecutor/,
  /["']os\/exec["']/,
);

/** Where the program is seen to listen. */
export const listens = (facts: Facts): string | null => evidence(sources(facts), LISTENS)?.where ?? null;

/** Where it is seen to start other processes. */
export const forks = (facts: Facts): string | null => evidence(sources(facts), STARTS_PROCESSES)?.where ?? null;
