import { fileURLToPath } from 'node:url';

/** The router program of this installation, by argv; it runs from source where this package does. */
export function routerProgram(): readonly [string, ...string[]] {
  const fromSource = import.meta.url.endsWith('.ts');
  const main = fileURLToPath(new URL(fromSource ? '../main.ts' : '../main.js', import.meta.url));
  return fromSource ? [process.execPath, '--conditions=source', main] : [process.execPath, main];
}
