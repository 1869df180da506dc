import { z } from 'zod';

/** Rises when a message changes its meaning; an attendant of another version makes way. */
export const PROTOCOL = 2;

/** What the driver asks, by operation. */
export interface Asks {
  readonly hello: { readonly fleet: string };
  readonly attend: {
    readonly activation: string;
    readonly directory: string;
    readonly pid: number;
    readonly startTime: string;
  };
  readonly forget: { readonly activation: string };
  readonly grant: { readonly activation: string; readonly epoch: number };
  readonly view: { readonly activation: string };
  readonly list: { readonly after: string };
  readonly metrics: object;
  readonly stop: object;
}

const count = z.int().nonnegative();

export const helloSchema = z.looseObject({ protocol: z.int(), pid: z.int().positive(), build: z.string() });

/** The last reading of one attended program, secrets taken out already (F30). */
const readingSchema = z.looseObject({
  good: z.boolean(),
  /** What was asked and answered, in words. */
  said: z.string(),
  status: z.int().nullable(),
  /** The begin of the answer's body, or of a command's output. */
  body: z.string().nullable(),
  tookMs: z.number(),
  ageMs: z.number(),
});

export const attendedSchema = z.looseObject({
  target: z.string(),
  activation: z.string(),
  /** What is signed for it; `null`: nothing yet. */
  state: z.enum(['warming', 'active', 'degraded', 'failed']).nullable(),
  epoch: z.int().nullable(),
  verdict: z.enum(['unproven', 'good', 'bad']),
  /** Readings of the newest kind in a row. */
  inARow: count,
  reading: readingSchema.nullable(),
});

export const listSchema = z.array(attendedSchema);

export const metricsSchema = z.looseObject({
  targets: count,
  probes: count,
  badReadings: count,
  inFlight: count,
  cpuSeconds: z.number(),
  residentBytes: count,
});

/** Told unasked; the answer to `attend` is the newest one, or that there is none yet. */
export const heardSchema = z.object({
  presence: z.object({ activation: z.string(), envelope: z.unknown(), ageMs: z.number() }).nullable(),
});

export type Hello = z.infer<typeof helloSchema>;
export type Attended = z.infer<typeof attendedSchema>;
export type AttendantMetrics = z.infer<typeof metricsSchema>;

/** Answers are read by the schemas above before they are used. */
export interface AttendantProtocol {
  readonly asks: Asks;
  readonly answers: { readonly [O in Exclude<keyof Asks, 'hello'>]: unknown } & { readonly hello: Hello };
  readonly notice: object;
}
