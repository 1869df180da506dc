import { mkdirSync } from 'node:fs';

/** Makes a directory, and those above it, that only this user can enter; one that is there stays as it is. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}
