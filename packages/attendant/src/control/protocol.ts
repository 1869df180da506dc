import { z } from 'zod';
import { recordSchema } from '../model/record.ts';

/** Rises when a message changes its meaning. `hello` and `stop` never do: an older attendant can always be replaced. */
export const PROTOCOL = 2;

const activation = recordSchema.shape.activation;

/** What may be asked, by operation. `hello` comes first on every connection. */
export const asks = {
  hello: z.looseObject({ fleet: z.string() }),
  attend: recordSchema.pick({ activation: true, directory: true, pid: true, startTime: true }),
  forget: z.strictObject({ activation }),
  grant: z.strictObject({ activation, epoch: z.int().positive() }),
  view: z.strictObject({ activation }),
  list: z.strictObject({ after: z.string().max(200) }),
  metrics: z.strictObject({}),
  stop: z.looseObject({}),
} as const;

export type Operation = keyof typeof asks;

export const requestSchema = z.strictObject({ id: z.int().min(0), op: z.string(), ask: z.unknown() });

export const isOperation = (text: string): text is Operation => Object.hasOwn(asks, text);
