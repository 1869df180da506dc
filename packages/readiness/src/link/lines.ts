/** The longest line of the workload protocol and of the observer's link, in bytes, without its line feed. */
export const MAX_LINE_BYTES = 262_144;

const LINE_FEED = 0x0a;

/**
 * Cuts a byte stream into lines, with a bounded buffer. `push` answers the lines that became complete, or `too-long`, after
 * which the connection is of no more use.
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
