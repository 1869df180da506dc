import type { Json } from '@idunn/kernel';
import { z } from 'zod';
import { canonicalHost } from './host.ts';
import { LADDER_VERSION } from './model.ts';
import { ROLE_SPELLINGS, roleOf } from './roles.ts';

/** Longest slot name: its generations, `<name>-YYYYMMDD-HHMM`, must still be one DNS label. */
export const SLOT_NAME_LIMIT = 63 - '-YYYYMMDD-HHMM'.length;
/** Most slots of a ladder, and most hosts of a slot. */
export const SLOT_LIMIT = 200;
export const HOST_LIMIT = 200;

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const label = (what: string, most: number) =>
  z
    .string()
    .max(most, `${what} has at most ${most} characters`)
    .regex(LABEL, `${what} has lower-case letters, digits and inner dashes`);

const slotName = label('a slot name', SLOT_NAME_LIMIT);

const host = z
  .string()
  .max(300)
  .refine((text) => !/[/@*?#\\\s]/.test(text) && !/:\d*$/.test(text), 'a host has no scheme, port, path or wildcard')
  .refine((text) => canonicalHost(text) !== null, 'a host name, such as app.example.test')
  .transform((text) => canonicalHost(text) ?? text);

const meta = z.record(z.string(), z.json()).transform((value) => value as Readonly<Record<string, Json>>);

/** Each field of a slot on its own, so that every fault is found at once. */
export const SLOT_FIELDS = {
  name: slotName,
  namespace: label('a namespace', 63),
  hosts: z
    .array(host)
    .max(HOST_LIMIT)
    .default(() => [])
    .describe('Every host that belongs to the slot.'),
  role: z
    .string()
    .refine((text) => roleOf(text) !== null, `a role is one of ${ROLE_SPELLINGS.join(', ')}`)
    .transform((text) => roleOf(text) ?? 'production'),
  guarded: z.boolean('guarded is true or false, and nothing else'),
  promotes_to: z
    .array(slotName)
    .max(SLOT_LIMIT)
    .default(() => []),
  meta: meta.optional(),
} as const;

export const LADDER_FIELDS = {
  apiVersion: z.literal(LADDER_VERSION),
  meta: meta.default(() => ({})),
  slots: z.array(z.unknown()).min(1, 'a ladder has at least one slot').max(SLOT_LIMIT),
} as const;

/** The whole file as one schema: for the published JSON Schema. Checks between fields are not in it. */
export const ladderFileSchema = z.strictObject({
  ...LADDER_FIELDS,
  slots: z.array(z.strictObject(SLOT_FIELDS)).min(1).max(SLOT_LIMIT),
});
