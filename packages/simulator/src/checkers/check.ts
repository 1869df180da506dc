import { StoreFault } from '@idunn/kernel';
import { LostAnswer } from '../ports/life.ts';
import { absence } from './absence.ts';
import { apart } from './apart.ts';
import { commands } from './commands.ts';
import { continuity } from './continuity.ts';
import { crashProof } from './crash-proof.ts';
import { cut } from './cut.ts';
import { disclosed } from './disclosed.ts';
import { endings } from './endings.ts';
import { freezes } from './freezes.ts';
import { gated } from './gated.ts';
import { grants } from './grants.ts';
import { incumbent } from './incumbent.ts';
import type { Judged, Violation } from './judged.ts';
import { noReplay } from './no-replay.ts';
import { nothingLost } from './nothing-lost.ts';
import { observedNotConfigured } from './observed.ts';
import { oneState } from './one-state.ts';
import { oneWriter } from './one-writer.ts';
import { paged } from './paged.ts';
import { restored } from './restored.ts';
import { sealed } from './sealed.ts';
import { twoAuthorities } from './two-authorities.ts';

/** Every checker over one run. None of them looks at a record of Idunn's. */
export const check = (judged: Judged): readonly Violation[] => [
  ...oneWriter(judged.world),
  ...oneState(judged.world),
  ...restored(judged.world),
  ...sealed(judged.world),
  ...twoAuthorities(judged),
  ...observedNotConfigured(judged.world),
  ...disclosed(judged),
  ...noReplay(judged.world),
  ...crashProof(judged),
  ...incumbent(judged),
  ...gated(judged.world),
  ...apart(judged),
  ...cut(judged),
  ...freezes(judged),
  ...continuity(judged),
  ...paged(judged),
  ...absence(judged),
  ...grants(judged),
  ...nothingLost(judged),
  ...commands(judged.world),
  ...endings(judged),
  ...ownFaults(judged),
];

/**
 * An exception in Idunn's own code is a defect, whatever became of the run. A store that says so is none, nor is a
 * collection whose answer was lost: it is told, and the next conclusion collects again.
 */
const ownFaults = ({ world, faults }: Judged): readonly Violation[] =>
  faults
    .filter((fault) => !(fault instanceof StoreFault))
    .filter((fault) => !(fault instanceof LostAnswer && fault.effect === 'collect'))
    .map((fault) => ({
      of: 'fault',
      atMs: world.time.nowMs,
      detail: fault instanceof Error ? (fault.stack ?? '') : String(fault),
    }));
