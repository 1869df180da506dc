import { z } from 'zod';
import { readIfThere } from '../files.ts';
import type { ProbeWords } from '../probe-words.ts';

/** What the rehearser is told. */
export interface RehearsalOrders {
  readonly schema: 'idunn.rehearsal-orders/v1';
  /** The program, with what holds its limits before it. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly probe: ProbeWords;
  readonly endpoint: { readonly host: string; readonly port: number } | null;
  readonly intervalMs: number;
  readonly probeTimeoutMs: number;
  readonly successes: number;
  /** From the start of the program to its verdict. */
  readonly timeoutMs: number;
  readonly result: string;
}

const resultSchema = z.strictObject({
  schema: z.literal('idunn.rehearsal-result/v1'),
  passed: z.boolean(),
  /** What was found last, in words. */
  said: z.string(),
  /** HTTP status or exit code of the last probe. */
  status: z.int().nullable(),
  /** The begin of the last answer. */
  body: z.string().nullable(),
});

/** The verdict of a rehearser that lived to say it. */
export type RehearsalResult = z.infer<typeof resultSchema>;

/** `null` when there is none, or none that can be read. */
export async function readResult(file: string): Promise<RehearsalResult | null> {
  const text = await readIfThere(file);
  if (text === null) return null;
  try {
    return resultSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
