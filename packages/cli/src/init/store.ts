import { posix } from 'node:path';
import type { Store } from './model.ts';

/** `sqlite:FILE` or `files:DIRECTORY`, with `ID=` before it for another id than `data`; `null` for anything else. */
export function storeOf(text: string): Store | null {
  const [, id = 'data', kind, path] = /^(?:([a-z0-9-]{1,63})=)?(sqlite|files):([^/].*[^/])$/.exec(text) ?? [];
  if (kind === undefined || path === undefined || posix.normalize(path) !== path || path.startsWith('..')) return null;
  return { id, kind: kind as Store['kind'], path };
}
