import type { TransactionResult } from '@idunn/authority';
import type { Scenario } from '../scenario.ts';
import type { Clients } from '../world/clients.ts';
import type { World } from '../world/world.ts';

export type Checked =
  | 'I1'
  | 'I2'
  | 'I3'
  | 'I4'
  | 'I5'
  | 'I6'
  | 'I7'
  | 'I8'
  | 'I9'
  | 'I10'
  | 'I11'
  | 'I12'
  | 'apart'
  | 'ends'
  | 'leftover'
  | 'fault';

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
  readonly shapes: Scenario['shapes'];
  readonly scenario: Scenario;
  /** What its users are told to look at, in the end. */
  readonly incidents: readonly { readonly subject: string; readonly code: string }[];
  readonly faults: readonly unknown[];
}
