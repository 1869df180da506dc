import type { Clock } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import { listenerOwner } from '../channel/listener.ts';
import { identify, ownStandpoint, signal } from '../process/identity.ts';
import { processIds } from '../process/proc.ts';

/** Who hangs on a control socket, and how it is ended. */
export interface Hung {
  /** Whoever listens there; `null` where that cannot be seen. */
  find(): Promise<RuntimeIdentity | null>;
  /** Kills exactly that process (F12). Left out where only a person may: it carries what others hold. */
  readonly end?: (one: RuntimeIdentity) => void;
}

export const hungAt = (controlSocket: string, clock: Clock): Required<Hung> => ({
  async find() {
    const from = ownStandpoint(clock.bootId);
    for (const pid of processIds()) {
      const identity = identify(pid, null, from);
      if (identity.kind !== 'seen' || (await listenerOwner(pid, controlSocket)) !== 'own') continue;
      return identity.value;
    }
    return null;
  },
  end: (one) => signal(one, 'SIGKILL', ownStandpoint(clock.bootId)),
});
