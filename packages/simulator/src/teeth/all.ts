import { TEETH_OF_ABSENCE } from './absence.ts';
import { TEETH_OF_COMMANDS } from './commands.ts';
import { TEETH_OF_CONTINUITY } from './continuity.ts';
import { TEETH_OF_CRASHES } from './crashes.ts';
import { TEETH_OF_DISCLOSURE } from './disclosure.ts';
import { TEETH_OF_FLEETS } from './fleets.ts';
import { TEETH_OF_GRANTS } from './grants.ts';
import { TEETH_OF_INCUMBENTS } from './incumbents.ts';
import { TEETH_OF_KINDS } from './kinds.ts';
import { TEETH_OF_PROMOTION } from './promotion.ts';
import { TEETH_OF_RESTORED } from './restored.ts';
import { TEETH_OF_SPARES } from './spares.ts';
import { TEETH_OF_STOPS } from './stops.ts';
import type { Tooth } from './tooth.ts';
import { TEETH_OF_TREES } from './trees.ts';

/** Every broken variant: what the checkers are held against. */
export const TEETH: readonly Tooth[] = [
  ...TEETH_OF_PROMOTION,
  ...TEETH_OF_DISCLOSURE,
  ...TEETH_OF_KINDS,
  ...TEETH_OF_TREES,
  ...TEETH_OF_FLEETS,
  ...TEETH_OF_RESTORED,
  ...TEETH_OF_SPARES,
  ...TEETH_OF_INCUMBENTS,
  ...TEETH_OF_CRASHES,
  ...TEETH_OF_CONTINUITY,
  ...TEETH_OF_STOPS,
  ...TEETH_OF_ABSENCE,
  ...TEETH_OF_GRANTS,
  ...TEETH_OF_COMMANDS,
];
