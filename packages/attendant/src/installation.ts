import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Digest, digestJson } from '@idunn/kernel';

const fromSource = import.meta.url.endsWith('.ts');

/** The attendant program of this installation, by argv; it runs from source where this package does. */
export const attendantProgram = (): Argv => program(fromSource ? './main.ts' : './main.js');

/** The program that runs another on a copy of its state and looks at it, by argv without its orders. */
export const rehearserProgram = (): Argv => program(fromSource ? './rehearser.ts' : './rehearser.js');

type Argv = readonly [string, ...string[]];

function program(name: string): Argv {
  const file = fileURLToPath(new URL(name, import.meta.url));
  return fromSource ? [process.execPath, '--conditions=source', file] : [process.execPath, file];
}

/** Names the installed bytes: another name means that they were replaced. Read without reading them. */
export function attendantBuild(): Digest {
  const packages = ['@idunn/kernel', '@idunn/workload'].map((name) => fileURLToPath(import.meta.resolve(name)));
  return digestJson([process.version, ...[import.meta.dirname, ...packages.map(dirname)].flatMap(filesOf)]);
}

const filesOf = (directory: string): readonly (string | number)[][] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => {
      const { size, mtimeMs } = statSync(file);
      return [file, size, mtimeMs];
    });
