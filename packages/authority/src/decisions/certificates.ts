import type { IncidentCode } from '../model/incident-code.ts';
import type { CertificateState } from '../ports/route-port.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Renewals are usual with a third of the span left; with a quarter left somebody should look. */
const NEAR = { share: 4, atMostMs: 21 * DAY_MS };

export interface CertificateIncident {
  readonly code: Extract<IncidentCode, 'route-certificate-unusable' | 'route-certificate-expiring'>;
  readonly detail: string;
}

/**
 * What a person should look at: files that cannot be served, and an end that is near: a quarter of the certificate's
 * span, at most 21 days. The wall clock counts here, since it is what the clients go by.
 */
export function certificateIncidents(
  certificates: readonly CertificateState[],
  nowWallMs: number,
): readonly CertificateIncident[] {
  return certificates.flatMap(({ file, validFromMs, expiresAtMs, problem }) => {
    const incidents: CertificateIncident[] = [];
    if (problem !== null) incidents.push({ code: 'route-certificate-unusable', detail: problem });
    if (validFromMs === null || expiresAtMs === null) return incidents;
    const nearMs = Math.min(NEAR.atMostMs, (expiresAtMs - validFromMs) / NEAR.share);
    const leftMs = expiresAtMs - nowWallMs;
    if (leftMs > nearMs) return incidents;
    const until = new Date(expiresAtMs).toISOString();
    const detail = `${file} ${leftMs <= 0 ? 'has run out' : 'runs out'}: ${until}.`;
    return [...incidents, { code: 'route-certificate-expiring', detail }];
  });
}
