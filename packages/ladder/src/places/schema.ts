import { z } from 'zod';

/** The one version of the places file that this package reads. */
export const PLACES_VERSION = 'idunn.places/v1';

const path = z.string().min(1).max(4_096);
const word = z.string().min(1).max(1_024);
const statement = z.strictObject({ what: word, statement: z.string().min(1).max(65_536) });
const statements = z.array(statement).max(100).default([]);
const counted = z.array(word).max(100);
const watermark = z
  .strictObject({ mark: z.strictObject({ table: word, column: word }).optional(), count: counted.default([]) })
  .optional();

/** What runs a slot. */
const runs = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('kubernetes'),
    kubeconfig: path,
    context: word.optional(),
    ingress_class: word.optional(),
    /** What happens to fields that another manager owns. */
    conflicts: z.enum(['refuse', 'take']).default('refuse'),
  }),
  z.strictObject({
    kind: z.literal('idunn'),
    fleet: path,
    /** The file of the key that authorizes releases of this fleet. */
    authorizer: path.optional(),
  }),
]);

/** How the slot is made to stand still while its data is replaced. */
const standstill = z.enum(['nothing-runs', 'sleep']);

/** Where the data of a slot is. */
const data = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sqlite'), description: word, standstill, path, watermark, neutralise: statements }),
  z.strictObject({ kind: z.literal('directory'), description: word, standstill, path }),
  z.strictObject({
    kind: z.literal('postgres'),
    description: word,
    standstill,
    host: word,
    port: z.int().min(1).max(65_535).default(5_432),
    user: word,
    database: word,
    password_file: path.optional(),
    watermark,
    neutralise: statements,
  }),
]);

/**
 * What a ladder file does not say: what runs each slot and where its data is. Paths are absolute or relative to the
 * file. Secrets are named by file, never written into it.
 */
export const placesSchema = z.strictObject({
  apiVersion: z.literal(PLACES_VERSION),
  /** The audit log, appended to by every command that changes something. */
  audit: path,
  /** A ladder file that no other can lower: what it guards stays guarded. */
  baseline: path.optional(),
  demotions: z.enum(['refuse', 'report-and-keep-guarded']).default('refuse'),
  slots: z.record(z.string(), z.strictObject({ runs: runs.optional(), data: data.optional() })),
});

export type PlacesFile = z.infer<typeof placesSchema>;
export type RunsPlace = z.infer<typeof runs>;
export type DataPlace = z.infer<typeof data>;
/** A slot that is a fleet of Idunn. */
export type FleetPlace = Extract<RunsPlace, { kind: 'idunn' }>;
