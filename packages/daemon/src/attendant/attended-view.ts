import type { DoctorCheck, TargetStatus } from '@idunn/client';
import type { AttendantDriver } from '@idunn/drivers';
import { type Clock, catalogue } from '@idunn/kernel';

type Shown = TargetStatus['attended'][number];

/** The attended activations of each target with their last readings; none while the attendant does not answer. */
export async function attendedByTarget(
  attendant: AttendantDriver,
  clock: Clock,
): Promise<Readonly<Record<string, Shown[]>>> {
  const attended = await attendant.attended();
  const targets: Record<string, Shown[]> = {};
  for (const { target, activation, state, inARow, reading } of attended.kind === 'seen' ? attended.value : []) {
    const shown = (targets[target] ??= []);
    if (reading === null) {
      shown.push({ activation, state, inARow, reading });
      continue;
    }
    const { good, said, status, body, tookMs, ageMs } = reading;
    const readAt = new Date(clock.wallMs() - ageMs).toISOString();
    shown.push({ activation, state, inARow, reading: { good, said, status, body, tookMs, readAt } });
  }
  return targets;
}

export async function attendantCheck(attendant: AttendantDriver): Promise<DoctorCheck> {
  const check = 'attendant';
  const [status, attended] = [await attendant.status(), await attendant.attended()];
  switch (status.kind) {
    case 'absent':
      return { check, verdict: 'good', detail: 'no program is attended', remedy: null };
    case 'unknown':
      return {
        check,
        verdict: 'bad',
        detail: status.because,
        remedy: catalogue['attendant-unreachable'].remedy,
      };
    case 'seen': {
      const count = attended.kind === 'seen' ? attended.value.length : 'an unknown number of';
      const programs = count === 1 ? '1 program' : `${count} programs`;
      return { check, verdict: 'good', detail: `pid ${status.value.pid} speaks for ${programs}`, remedy: null };
    }
  }
}
