import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Fault } from '@idunn/client';

export interface CheckRequest {
  readonly fleet: { readonly directory: string; readonly text: string | null };
  readonly recipe: { readonly file: string; readonly text: string };
  readonly binding: { readonly file: string; readonly text: string };
}

export interface CheckAnswer {
  readonly faults: readonly (Fault & { readonly code: string })[];
  readonly start: 'embedded' | 'overlapping' | 'gated' | null;
}

/** Has the daemon's own parsers check files, in a program of their own: the command never imports them. */
export async function checkFiles(request: CheckRequest): Promise<CheckAnswer> {
  const program = fileURLToPath(import.meta.resolve('@idunn/daemon/check-files'));
  const child = spawn(process.execPath, [...process.execArgv, program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(request));
  return JSON.parse(await text(child.stdout)) as CheckAnswer;
}
