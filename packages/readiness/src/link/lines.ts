import { lineSchema } from './messages.ts';

/** The longest line of the workload protocol and of the observer's link, in bytes, without its line feed. */
export const MAX_LINE_BYTES = 262_144;

const LINE_FEED = 0x0a;

/**
 * Cuts a byte stream into lines, with a bounded buffer. `push` answers the lines that became complete, or `too-long`,
 * after which the connection is of no more use.
 */
export function lineSplitter(maxBytes: number = MAX_LINE_BYTES): {
  push(chunk: Uint8Array): readonly string[] | 'too-long';
} {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  return {
    push(chunk) {
      const lines: string[] = [];
      let from = 0;
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
        const rest = chunk.subarray(from, end);
        if (heldBytes + rest.length > maxBytes) return 'too-long';
        lines.push(Buffer.concat([...held, rest]).toString('utf8'));
        held = [];
        heldBytes = 0;
        from = end + 1;
      }
      const rest = chunk.subarray(from);
      if (heldBytes + rest.length > maxBytes) return 'too-long';
      if (rest.length > 0) {
        held.push(rest);
        heldBytes += rest.length;
      }
      return lines;
    },
  };
}

/**
 * Reads lines of `{"type": T, "envelope": E}` from a byte stream and hands each to `take`. The returned function
 * answers `false` when a line was too long or no JSON of that form: the connection is then of no more use.
 */
export function lineReader(take: (type: string, envelope: unknown) => void): (chunk: Uint8Array) => boolean {
  const splitter = lineSplitter();
  return (chunk) => {
    const lines = splitter.push(chunk);
    if (lines === 'too-long') return false;
    return lines.every((text) => {
      const line = parsed(text);
      if (line !== null) take(line.type, line.envelope);
      return line !== null;
    });
  };
}

function parsed(text: string): { readonly type: string; readonly envelope?: unknown } | null {
  try {
    return lineSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
