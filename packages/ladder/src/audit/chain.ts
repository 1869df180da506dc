import { DIGEST_PATTERN, type Digest, digestBytes, digestJson } from '@idunn/kernel';
import { z } from 'zod';
import type { AuditDraft, AuditLine } from './port.ts';

/** Where a chain ends: what the next line links to. */
export interface Head {
  readonly sequence: number;
  readonly digest: Digest;
}

export const EMPTY_LOG: Head = { sequence: 0, digest: `sha256:${'0'.repeat(64)}` };

const digest = z.custom<Digest>((value) => typeof value === 'string' && DIGEST_PATTERN.test(value));
const lineSchema = z.strictObject({
  schema: z.literal('idunn.audit/v1'),
  sequence: z.int().positive(),
  previous: digest,
  digest,
  atMs: z.number(),
  actor: z.string(),
  tenant: z.string(),
  from: z.string(),
  kind: z.enum(['clearance', 'operation', 'recovered']),
  what: z.string(),
  target: z.string(),
  outcome: z.enum(['granted', 'refused', 'begun', 'done', 'failed']),
  detail: z.record(z.string(), z.json()),
});

/** The line that a draft becomes behind `head`. */
export function chained(head: Head, draft: AuditDraft): AuditLine {
  const line = { ...draft, schema: 'idunn.audit/v1', sequence: head.sequence + 1, previous: head.digest } as const;
  return { ...line, digest: digestJson(line) };
}

/** A line read back; `null` when it is not what was written. */
export function readLine(text: string): AuditLine | null {
  try {
    const line = lineSchema.parse(JSON.parse(text)) as AuditLine;
    const { digest: stated, ...rest } = line;
    return digestJson(rest) === stated ? line : null;
  } catch {
    return null;
  }
}

/** What a log is worth: whole up to its end, or broken behind a line. */
export type Verdict =
  | { readonly kind: 'whole'; readonly head: Head; readonly recovered: number }
  | { readonly kind: 'broken'; readonly line: number; readonly because: string };

/** Most lines in a row that crashes can have cut short. */
const TORN_LIMIT = 16;

/**
 * Follows the chain over every line of a log, in order. A line that a crash cut short is not broken when the next one
 * says so and carries its digest. What is missing at the end can only be told by whoever noted an earlier head.
 */
export async function verifyLines(lines: AsyncIterable<string> | Iterable<string>): Promise<Verdict> {
  let head = EMPTY_LOG;
  const torn: string[] = [];
  let number = 0;
  let recovered = 0;
  for await (const text of lines) {
    number += 1;
    const line = readLine(text);
    if (line === null) {
      if (torn.length === TORN_LIMIT) break;
      torn.push(text);
      continue;
    }
    if (torn.length > 0 && !(line.kind === 'recovered' && line.detail['digest'] === digestBytes(torn.join('\n'))))
      break;
    if (line.sequence !== head.sequence + 1 || line.previous !== head.digest) {
      return { kind: 'broken', line: number, because: 'it does not follow the line before it' };
    }
    if (torn.length > 0) recovered += 1;
    torn.length = 0;
    head = { sequence: line.sequence, digest: line.digest };
  }
  if (torn.length > 0) return { kind: 'broken', line: number, because: 'a line is not what was written' };
  return { kind: 'whole', head, recovered };
}
