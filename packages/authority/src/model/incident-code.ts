import type { Code } from '@idunn/kernel';

/** Every kind of incident there is; `docs/incidents.md` has each. */
export const INCIDENT_CODES = [
  'admitted-process-lost',
  'admitted-unjudged',
  'claim-unreadable',
  'continuity-held',
  'engine-fault',
  'fence-not-proven',
  'foreign-claim',
  'hold-unreadable',
  'interpreter-changed',
  'lease-row-unexpected',
  'lease-row-unreadable',
  'operator-required',
  'presence-lapsed',
  'projection-foreign',
  'restart-overdue',
  'restarted-too-often',
  'route-certificate-expiring',
  'route-certificate-unusable',
  'stop-unreadable',
  'store-fault',
  'unrecorded-process',
  'verdict-missing',
] as const satisfies readonly Code[];

export type IncidentCode = (typeof INCIDENT_CODES)[number];
