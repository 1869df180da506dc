import { headerSchema } from '@idunn/kernel';
import { z } from 'zod';

const challenge = z.string().regex(/^[0-9a-f]{64}$/);
const header = headerSchema;
const epoch = z.int().nonnegative();

/** What a program says on the channel beside its presence; docs/workload-protocol.md describes each. */
export const WORDS = {
  proof: z.strictObject({ header, challenge, counterChallenge: challenge, pid: z.int().positive() }),
  echoed: z.strictObject({ header, nonces: z.record(z.string().max(256), z.string().max(256).nullable()) }),
  relinquished: z.strictObject({ header, epoch, lastWriteAtMs: z.number().nullable() }),
  withdrawn: z.strictObject({ header, writing: z.boolean() }),
  granted: z.strictObject({ header, epoch }),
  'first-write': z.strictObject({ header, epoch, atMs: z.number() }),
} as const;

export type WordType = keyof typeof WORDS;
export type Word<T extends WordType> = z.infer<(typeof WORDS)[T]>;

export const isWordType = (type: string): type is WordType => Object.hasOwn(WORDS, type);

/** What the authority sends, and the word that answers it. */
export const ANSWERS = {
  hello: 'proof',
  echo: 'echoed',
  relinquish: 'relinquished',
  withdraw: 'withdrawn',
  grant: 'granted',
} as const satisfies Readonly<Record<string, WordType>>;

export type Command = keyof typeof ANSWERS;
export type AnswerTo<C extends Command> = Word<(typeof ANSWERS)[C]>;
