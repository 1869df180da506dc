import type { TransactionResult } from '@idunn/authority';
import { StoreFault } from '@idunn/kernel';
import type { Scenario } from '../scenario.ts';
import type { Clients } from '../world/clients.ts';
import type { World } from '../world/world.ts';
import { endings } from './endings.ts';
import { noReplay } from './no-replay.ts';
import { nothingLost } from './nothing-lost.ts';
import { observedNotConfigured } from './observed.ts';
import { oneWriter } from './one-writer.ts';
import { sealed } from './sealed.ts';
import { twoAuthorities } from './two-authorities.ts';

export type Checked = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I12' | 'ends' | 'leftover' | 'fault';

export interface Violation {
  readonly of: Checked;
  readonly atMs: number;
  readonly detail: string;
}

export interface Judged {
  readonly world: World;
  readonly clients: ReadonlyMap<string, Clients>;
  readonly ended: boolean;
  readonly results: readonly (TransactionResult | null)[];
  readonly deploys: Scenario['deploys'];
  readonly faults: readonly unknown[];
}

/** Every checker over one run. None of them looks at a record of Idunn's. */
export const check = (judged: Judged): readonly Violation[] => [
  ...oneWriter(judged.world),
  ...sealed(judged.world),
  ...twoAuthorities(judged.world),
  ...observedNotConfigured(judged.world),
  ...noReplay(judged.world),
  ...nothingLost(judged),
  ...endings(judged),
  ...ownFaults(judged),
];

/** An exception in Idunn's own code is a defect, whatever became of the run; a store that says so is not. */
const ownFaults = ({ world, faults }: Judged): readonly Violation[] =>
  faults
    .filter((fault) => !(fault instanceof StoreFault))
    .map((fault) => ({
      of: 'fault',
      atMs: world.time.nowMs,
      detail: fault instanceof Error ? (fault.stack ?? '') : String(fault),
    }));
