import type { TargetView } from '@idunn/authority';
import { PAYLOAD_TYPE, verificationKey, verifyEnvelope } from '@idunn/kernel';
import type { AuditCheck } from '@idunn/release';
import type { Dossier } from './dossier.ts';

/** Lease row and route, each read on its own, must name the same process as the record (I3). */
export function authorityChecks({ body, plan }: Dossier, view: TargetView): AuditCheck[] {
  if (body === null) return [];
  return [
    ...(plan.state === null ? [] : [leaseCheck(body, view.lease)]),
    ...(plan.route === null ? [] : [routeCheck(body, view.route)]),
    ...view.incarnations
      .filter(({ role }) => role === 'admitted')
      .map(({ disagreements, present, ready }): AuditCheck => {
        const check = 'three truths';
        const [first] = disagreements;
        if (first !== undefined) return { check, verdict: 'differs', detail: `${first.code}: ${first.detail}` };
        if (present === null || ready === null) {
          return {
            check,
            verdict: 'unknown',
            detail: present === null ? 'no word of it is here' : 'it is not seen ready',
          };
        }
        return present.fresh
          ? { check, verdict: 'ok', detail: `expected, ${present.state} by its own word, and seen ready` }
          : { check, verdict: 'unknown', detail: `its last word, ${present.state}, is stale` };
      }),
  ];
}

type Body = NonNullable<Dossier['body']>;

function leaseCheck({ document, epoch }: Body, lease: TargetView['lease']): AuditCheck {
  const check = 'write lease';
  if (lease === null) return { check, verdict: 'unknown', detail: 'the lease row could not be read' };
  const named = lease.state === 'held' && lease.activation === document.activation && lease.epoch === epoch;
  const found = `epoch ${lease.epoch}, ${lease.state === 'held' ? `held by ${lease.activation}` : lease.state}`;
  return named
    ? { check, verdict: 'ok', detail: found }
    : { check, verdict: 'differs', detail: `${found}; the record has epoch ${epoch} of ${document.activation}` };
}

function routeCheck({ incarnation, document }: Body, route: TargetView['route']): AuditCheck {
  const check = 'route';
  if (route === null) return { check, verdict: 'unknown', detail: 'the route could not be read' };
  const backend = document.endpoint === null ? 'none' : `${document.endpoint.host}:${document.endpoint.port}`;
  const [only, ...more] = route.members;
  const named = only?.incarnation === incarnation && only.backend === backend && more.length === 0;
  const found = route.members.map((member) => `${member.backend} (${member.incarnation})`).join(', ') || 'nobody';
  return named
    ? { check, verdict: 'ok', detail: `${route.endpoint} leads to ${backend}` }
    : { check, verdict: 'differs', detail: `${route.endpoint} leads to ${found}; the record has ${backend}` };
}

/** The observer's signed receipt that it was admitted on (I4). */
export function readyCheck({ body, ready }: Dossier, observerPublicKey: string | null): AuditCheck[] {
  if (body === null) return [];
  const check = 'ready receipt';
  if (ready === null) return [{ check, verdict: 'unknown', detail: 'no receipt is on record' }];
  if (ready.envelope === null) {
    return [{ check, verdict: 'unknown', detail: `only its digest is on record: ${ready.receipt}` }];
  }
  if (observerPublicKey === null) return [{ check, verdict: 'unknown', detail: 'the observer’s key is not kept here' }];
  const keys = [verificationKey(observerPublicKey)];
  const opened = verifyEnvelope({ envelope: ready.envelope, keys, payloadType: PAYLOAD_TYPE });
  if (!opened.ok) return [{ check, verdict: 'differs', detail: opened.refusal.reason }];
  const about = opened.value.bytes.includes(body.incarnation) && opened.value.bytes.includes(body.document.activation);
  return about && ready.incarnation === body.incarnation
    ? [{ check, verdict: 'ok', detail: `${ready.receipt}, signed by the observer` }]
    : [{ check, verdict: 'differs', detail: `${ready.receipt} is signed, and is about something else` }];
}
