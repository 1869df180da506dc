import { type Envelope, type Ids, type SigningKey, signEnvelope } from '@idunn/kernel';
import type { PresenceState } from '@idunn/readiness';
import type { Launch } from '../launch/launch-document.ts';

/** The observer's word about itself: it is a managed workload like any other. */
export interface SelfPresence {
  /** Says from now on this. */
  become(state: PresenceState, detail: string): void;
  /** A freshly signed presence; each has the next sequence. */
  next(): Envelope;
}

export function selfPresence(own: {
  readonly launch: Launch;
  readonly activationKey: SigningKey;
  readonly signerKey: SigningKey;
  readonly pid: number;
  readonly ids: Ids;
}): SelfPresence {
  const { launch, activationKey, signerKey } = own;
  let state: PresenceState = 'warming';
  let detail = '';
  let sequence = 0;
  return {
    become(nextState, nextDetail) {
      state = nextState;
      detail = nextDetail;
    },
    next() {
      sequence += 1;
      const header = {
        schema: 'idunn.presence/v1',
        issuer: activationKey.keyId,
        audience: launch.header.audience,
        subject: launch.activation,
        requestId: own.ids.fresh('presence'),
        sequence,
      };
      const { target, incarnation, activation } = launch;
      const said = { target, incarnation, activation, state, pid: own.pid, epoch: null, endpoint: null, detail };
      const { capabilities } = launch.expected;
      return signEnvelope({ header, ...said, stateSchema: null, capabilities }, [activationKey, signerKey]);
    },
  };
}
