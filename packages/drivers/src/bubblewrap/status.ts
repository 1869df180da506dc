import type { Readable } from 'node:stream';
import { z } from 'zod';

/** Bubblewrap's words about itself are short. */
const STATUS_LIMIT_CHARACTERS = 16_384;

export interface SandboxStatus {
  /** The pid of the sandbox's first process, told before that process is let go; `null` when it was never made. */
  readonly init: Promise<number | null>;
  /** Whether the sandbox was whole and the program's exit was told; known once the launcher has ended. */
  readonly began: Promise<boolean>;
}

const line = z.looseObject({ 'child-pid': z.int().optional(), 'exit-code': z.int().optional() });

/** Reads `--json-status-fd`: one JSON object a line. */
export function readStatus(from: Readable | null): SandboxStatus {
  const init = Promise.withResolvers<number | null>();
  const began = Promise.withResolvers<boolean>();
  let text = '';
  let exited = false;
  const take = (part: string): void => {
    text = (text + part).slice(-STATUS_LIMIT_CHARACTERS);
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const one of lines) {
      const parsed = line.safeParse(parse(one));
      if (!parsed.success) continue;
      if (parsed.data['child-pid'] !== undefined) init.resolve(parsed.data['child-pid']);
      if (parsed.data['exit-code'] !== undefined) exited = true;
    }
  };
  const end = (): void => {
    take('\n');
    init.resolve(null);
    began.resolve(exited);
  };
  from?.setEncoding('utf8').on('data', take).once('end', end).once('error', end).once('close', end);
  if (from === null) end();
  return { init: init.promise, began: began.promise };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
