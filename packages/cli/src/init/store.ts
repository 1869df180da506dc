import { posix } from 'node:path';
import type { Store } from './model.ts';

/** `sqlite:FILE` or `files:DIRECTORY`; `null` for anything else. */
export function storeOf(text: string): Store | null {
  const [, kind, path] = /^(sqlite|files):([^/].*[^/])$/.exec(text) ?? [];
  if (kind === undefined || path === undefined || posix.normalize(path) !== path || path.startsWith('..')) return null;
  return { id: 'data', kind: kind as Store['kind'], path };
}
