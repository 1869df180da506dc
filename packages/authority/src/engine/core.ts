import type { decideContinuity } from '../decisions/continuity.ts';
import type { decide } from '../decisions/decide.ts';
import type { EffectKind } from '../decisions/effects.ts';
import type { DeployEvidence } from '../decisions/evidence.ts';
import type { EnginePorts } from '../ports/engine-ports.ts';
import type { EngineEvent } from './api.ts';
import type { IncidentBook } from './incident-book.ts';
import type { Journal } from './journal.ts';
import type { Library } from './library.ts';
import type { WitnessContext } from './witness.ts';

/** What every actor shares. */
export interface EngineCore {
  readonly ports: EnginePorts;
  readonly journal: Journal;
  readonly library: Library;
  readonly witness: WitnessContext;
  readonly incidents: IncidentBook;
  readonly stopped: boolean;
  readonly decide: typeof decide;
  readonly decideContinuity: typeof decideContinuity;
  fresh(): DeployEvidence['fresh'];
  emit(event: EngineEvent): void;
  fault(fault: unknown, target: string): void;
  /** Ports that living activations of the fleet were promised, those of one target left out. */
  readonly takenPorts: (except: string | null) => readonly number[];
  /** Runs an effect; builds and the collection of what nobody names keep out of each other's way (F4). */
  building<T>(kind: EffectKind, work: () => Promise<T>): Promise<T>;
  /** A transaction of the target left its queue. */
  concluded(target: string): void;
}
