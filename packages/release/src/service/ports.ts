import type { Clock, Ids, SigningKey } from '@idunn/kernel';
import type { AuthorizationBook } from '../authorization/book.ts';
import type { BindingDocument } from '../binding/parse.ts';
import type { CarriedBuilds } from '../carry/shelf.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { HostPort } from '../ports/host-port.ts';
import type { InputPort } from '../ports/input-port.ts';
import type { RunnerPort } from '../ports/runner-port.ts';
import type { SourcePort } from '../ports/source-port.ts';
import type { ReleaseStorePort, StagePort } from '../ports/stage-port.ts';

export interface ReleaseServicePorts {
  /** The fleet as it is now; asked at each planning. */
  readonly fleet: () => Fleet;
  readonly machine: string;
  readonly source: SourcePort;
  readonly runner: RunnerPort;
  readonly inputs: InputPort;
  readonly host: HostPort;
  readonly stages: StagePort;
  readonly releases: ReleaseStorePort;
  readonly authorizations: Pick<AuthorizationBook, 'current'>;
  /** Builds that another fleet sealed, or this one before. */
  readonly builds: CarriedBuilds;
  /** The authority's key; it signs provenance. */
  readonly key: SigningKey;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Targets sealed from installed files, each with its own binding and source. */
  readonly installed?: readonly { readonly binding: BindingDocument; readonly source: SourcePort }[];
}
