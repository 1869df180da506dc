import { type Outcome, refusal } from '@idunn/kernel';
import { type Auditing, record } from '../audit/record.ts';
import { type Clearance, requireCovers } from '../guard/clearance.ts';
import type { Slot } from '../ladder/model.ts';
import type { Placed, ReleaseChanges, ReleaseOperations } from './port.ts';

/** How a change that was begun can end in a fault of what carried it out. */
const faultOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Carries one change out of what `covered` says: a clearance that was looked at. The intent is written down, then the
 * change is made, and its outcome is written down too. Nothing reaches `change` without all that comes before it.
 */
export async function guardedChange<T>(
  auditing: Auditing,
  covered: Outcome<Slot>,
  what: string,
  namespace: string,
  change: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const target = covered.ok ? covered.value.name : namespace;
  const line = { kind: 'operation', what: `${what} ${namespace}`, target } as const;
  if (!covered.ok) {
    const { code, reason } = covered.refusal;
    await record(auditing, { ...line, outcome: 'refused', detail: { code, reason } });
    return covered;
  }
  const begun = await record(auditing, { ...line, outcome: 'begun' });
  if (!begun.ok) return begun;
  const outcome = await change().catch(
    (error: unknown): Outcome<T> => ({
      ok: false,
      refusal: refusal('ladder-operation-failed', `${what} ${namespace} ended in a fault: ${faultOf(error)}.`),
    }),
  );
  const detail = outcome.ok ? {} : { code: outcome.refusal.code, reason: outcome.refusal.reason };
  const told = await record(auditing, { ...line, outcome: outcome.ok ? 'done' : 'failed', detail });
  return outcome.ok && !told.ok ? told : outcome;
}

/** Operations whose every change asks for the clearance at run time as well, whatever the driver does about it. */
export function guardedOperations(operations: ReleaseOperations, auditing: Auditing): ReleaseOperations {
  const guard =
    <Request extends Placed>(name: keyof ReleaseChanges, change: Change<Request>): Change<Request> =>
    (clearance, request) =>
      guardedChange(auditing, requireCovers(clearance, request.namespace), name, request.namespace, () =>
        change(clearance, request),
      );
  return {
    description: operations.description,
    currentRelease: (at) => operations.currentRelease(at),
    workloads: (at) => operations.workloads(at),
    namespaces: () => operations.namespaces(),
    exported: (at) => operations.exported(at),
    hostOwner: (host) => operations.hostOwner(host),
    awaitRollout: (at, progress) => operations.awaitRollout(at, progress),
    setRelease: guard('setRelease', (clearance, to) => operations.setRelease(clearance, to)),
    apply: guard('apply', (clearance, to) => operations.apply(clearance, to)),
    sleep: guard('sleep', (clearance, at) => operations.sleep(clearance, at)),
    wake: guard('wake', (clearance, at) => operations.wake(clearance, at)),
    routeHost: guard('routeHost', (clearance, to) => operations.routeHost(clearance, to)),
    dropRoute: guard('dropRoute', (clearance, at) => operations.dropRoute(clearance, at)),
  };
}

type Change<Request extends Placed> = (clearance: Clearance, request: Request) => Promise<Outcome<void>>;
