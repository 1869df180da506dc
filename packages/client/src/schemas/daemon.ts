import { z } from 'zod';
import { fault, instant, refusal } from './common.ts';
import { dossier } from './sealed.ts';

/** Who answers on a socket. `api` rises when an answer's shape changes in a way that old readers cannot take. */
export const version = z.object({
  schema: z.literal('idunn.version/v1'),
  api: z.int(),
  version: z.string(),
  fleet: z.string(),
  machine: z.string(),
  directory: z.string(),
  pid: z.int(),
  node: z.string(),
  startedAt: instant,
  /** Of the helpers that outlive the daemon: `null` while one is not running. */
  helpers: z.object({
    routerPid: z.int().nullable(),
    observerPid: z.int().nullable(),
    attendantPid: z.int().nullable(),
  }),
});

export const fleet = z.object({
  schema: z.literal('idunn.fleet-view/v1'),
  fleet: z.string(),
  machine: z.string(),
  directory: z.string(),
  targets: z.array(z.string()),
  profiles: z.record(z.string(), z.array(z.string())),
  faults: z.array(fault),
});

export const logLines = z.object({
  schema: z.literal('idunn.log/v1'),
  target: z.string(),
  activation: z.string(),
  lines: z.array(z.string()),
});

export const inspect = z.object({
  schema: z.literal('idunn.inspect/v1'),
  kind: z.enum(['target', 'transaction', 'release', 'incarnation', 'authorization']),
  id: z.string(),
  value: z.json(),
  /** What was sealed and what runs of it; `null` when nothing of it was sealed. */
  dossier: dossier.nullable(),
});

/** One thing that `idunn doctor` looked at. `unknown` is what could not be read, never a pass (I10). */
export const doctorCheck = z.object({
  check: z.string(),
  verdict: z.enum(['good', 'note', 'bad', 'unknown']),
  detail: z.string(),
  /** What to do, where there is something to do. */
  remedy: z.string().nullable(),
});

export const doctor = z.object({ schema: z.literal('idunn.doctor/v1'), checks: z.array(doctorCheck) });

/** The public half of a key, with what it may sign. */
export const key = z.object({
  name: z.string(),
  purpose: z.string(),
  keyId: z.string(),
  /** Raw Ed25519 public key, base64. */
  publicKey: z.string(),
  createdAt: instant.nullable(),
});

export const keys = z.object({
  schema: z.literal('idunn.keys/v1'),
  keys: z.array(key),
  /** Keys whose public record could not be read; not read is not absent (I10). */
  unreadable: z.array(z.object({ name: z.string(), refusal: refusal.omit({ detail: true }) })),
});

export type Version = z.infer<typeof version>;
export type FleetAnswer = z.infer<typeof fleet>;
export type LogLines = z.infer<typeof logLines>;
export type Inspect = z.infer<typeof inspect>;
export type DoctorCheck = z.infer<typeof doctorCheck>;
export type Doctor = z.infer<typeof doctor>;
export type KeyAnswer = z.infer<typeof key>;
export type Keys = z.infer<typeof keys>;
