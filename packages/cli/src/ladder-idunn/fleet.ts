import { createClient, fleetDirectories, operatorSocket } from '@idunn/client';
import { loadKeyFile, type Outcome, ok, randomIds, refusal, refused, systemClock, systemTimers } from '@idunn/kernel';
import type { FleetPlace, ReleaseOperations } from '@idunn/ladder';
import type { Environment } from '../edge/environment.ts';

/** Operations over a fleet of this machine, by its directory; the driver is loaded when a slot is one. */
export async function operateFleet(
  environment: Environment,
  { fleet, authorizer }: FleetPlace,
): Promise<Outcome<ReleaseOperations>> {
  const { root, home } = environment;
  const directories = await fleetDirectories(fleet, { root, home, variable: (name) => environment.variable(name) });
  if (!directories.ok) {
    const { code, reason, remedy } = directories.refusal;
    return refused(refusal('fleet-refused', `${code}: ${reason}`, { remedy, detail: { code } }));
  }
  const key =
    authorizer === undefined
      ? ok(null)
      : await loadKeyFile(authorizer, { purpose: 'release-authorization', wallMs: environment.nowMs() });
  if (!key.ok) return key;
  const { fleetOperations } = await import('@idunn/drivers/ladder-idunn');
  return ok(
    fleetOperations({
      client: createClient(operatorSocket(directories.value)),
      authorizer: key.value?.signingKey ?? null,
      clock: systemClock(),
      timers: systemTimers,
      ids: randomIds,
    }),
  );
}
