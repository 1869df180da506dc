import type { Code } from '@idunn/kernel';

/** Every kind of incident there is; `docs/incidents.md` has each. */
export const INCIDENT_CODES = [
  'admitted-process-lost',
  'admitted-unjudged',
  'attendant-unreachable',
  'claim-unreadable',
  'continuity-held',
  'engine-fault',
  'fence-not-proven',
  'foreign-claim',
  'hold-unreadable',
  'interpreter-changed',
  'lease-row-unexpected',
  'lease-row-unreadable',
  'observer-unreachable',
  'operator-required',
  'presence-lapsed',
  'projection-foreign',
  'restart-overdue',
  'restarted-too-often',
  'route-certificate-expiring',
  'route-certificate-unusable',
  'router-unreachable',
  'stop-unreadable',
  'store-fault',
  'unrecorded-process',
  'verdict-missing',
] as const satisfies readonly Code[];

export type IncidentCode = (typeof INCIDENT_CODES)[number];

/** What cannot be looked at shows no end of what was seen of it (I10). */
const HIDES: { readonly [code in IncidentCode]?: readonly IncidentCode[] } = {
  'admitted-unjudged': ['admitted-process-lost', 'presence-lapsed'],
  'claim-unreadable': ['foreign-claim', 'lease-row-unexpected'],
  'lease-row-unreadable': ['lease-row-unexpected'],
};

/** Of which incidents nobody can say whether they have ended, while such causes stand. */
export const hiddenBy = (causes: Iterable<IncidentCode>): ReadonlySet<IncidentCode> =>
  new Set([...causes].flatMap((code) => HIDES[code] ?? []));
