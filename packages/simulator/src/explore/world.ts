import type { Correlation, LeaseRow, OwnerClaim, RouteMember, WorkloadHandle } from '@idunn/authority';
import { type Digest, digestJson } from '@idunn/kernel';
import type { Activation, IncarnationKey, ObservedRuntime, Presence } from '@idunn/readiness';
import { digestOf } from '../world/sources.ts';

/** The one boot of a small world. */
export const BOOT = 'boot';

/** One program as a value: what it is, what it was told, and what it said last. */
export interface Program {
  readonly activation: Activation;
  readonly executable: Digest;
  /** What its release was sealed with. */
  readonly sealed: Digest;
  readonly schema: string | null;
  readonly gate: 'none' | 'waiting' | 'passed';
  /** It writes to a database of its own, whatever the rows say. */
  readonly stray: boolean;
  readonly alive: boolean;
  readonly said: {
    readonly state: 'warming' | 'active';
    readonly epoch: number | null;
    readonly sequence: number;
  } | null;
  readonly granted: number | null;
  /** The request that it gave its lease up for. */
  readonly relinquished: string | null;
  /** The nonce that it read back last. */
  readonly echoed: string | null;
}

/** What the observer keeps of one incarnation, and what it signed of it last. */
export interface Projection {
  readonly activation: Activation | null;
  readonly observed: ObservedRuntime | null;
  readonly ready: Correlation['ready'];
}

/** Everything outside the engine, as one value that never changes. */
export interface SmallWorld {
  readonly programs: Readonly<Record<string, Program>>;
  readonly minted: Readonly<Record<string, Activation>>;
  /** Activations that were retired: none of them can be started again. */
  readonly spent: readonly string[];
  /** The rows of the stores, and the one that is kept in a file. */
  readonly rows: Readonly<Record<string, LeaseRow>>;
  readonly file: Readonly<Record<string, LeaseRow>>;
  /** The highest epoch that anybody was ever named under. */
  readonly highest: number;
  readonly claim: OwnerClaim | null;
  readonly route: { readonly members: readonly RouteMember[] } | null;
  readonly staged: Readonly<Record<string, readonly RouteMember[]>>;
  readonly projections: Readonly<Record<IncarnationKey, Projection>>;
  /** What the observer told the engine last; it lags behind what the observer would say now. */
  readonly words: Readonly<Record<IncarnationKey, Correlation>>;
  readonly frozen: boolean;
  readonly rehearsed: readonly string[];
}

export const EMPTY: SmallWorld = {
  programs: {},
  minted: {},
  spent: [],
  rows: {},
  file: {},
  highest: 0,
  claim: null,
  route: null,
  staged: {},
  projections: {},
  words: {},
  frozen: false,
  rehearsed: [],
};

const numberOf = (activation: string): number => Number(activation.slice(activation.indexOf('-') + 1));

export function handleOf({ activation }: Pick<Program, 'activation'>): WorkloadHandle {
  const pid = 100 + numberOf(activation.activation);
  const identity = {
    kind: 'linux-process',
    pid,
    startTime: String(pid * 7),
    bootId: BOOT,
    controlGroup: `/idunn/${activation.activation}`,
    pidNamespace: 'pid:[1]',
  } as const;
  return { version: 1, driver: 'process', target: activation.target, activation: activation.activation, identity };
}

/** What the driver sees in it: the launcher, until it has become the program. */
export function observedOf(program: Program): ObservedRuntime {
  const { identity } = handleOf(program);
  const runs = { identity, executable: program.executable, argv: digestOf('argv'), entry: null };
  const launcher = { executable: digestOf('launcher'), argv: digestOf('launcher argv'), gate: 'waiting' } as const;
  return program.gate === 'waiting' ? { ...runs, ...launcher } : runs;
}

/** Its own signed word, as it was said last. */
export function presenceOf({ activation, said, schema }: Program): Presence | null {
  if (said === null) return null;
  const { activation: id, keyId, target, incarnation, endpoint } = activation;
  return {
    header: {
      schema: 'idunn.presence/v1',
      issuer: keyId,
      audience: { fleet: 'simulated', machine: 'local' },
      subject: id,
      requestId: `presence-${said.sequence}`,
      sequence: said.sequence,
    },
    target,
    incarnation,
    activation: id,
    state: said.state,
    pid: 100 + numberOf(id),
    epoch: said.epoch,
    endpoint,
    stateSchema: schema,
    capabilities: [],
    detail: '',
  };
}

/** Whom a place of rows names; `null` when nobody, or not the same one in each. */
export function namedIn(rows: SmallWorld['rows']): { readonly activation: string; readonly epoch: number } | null {
  const [first, ...others] = Object.values(rows);
  if (first === undefined || first.activation === null) return null;
  const { activation, epoch } = first;
  return others.every((row) => row.activation === activation && row.epoch === epoch) ? { activation, epoch } : null;
}

/** Whom the lease names, in whichever place it moved last. */
export function named({ rows, file }: SmallWorld): ReturnType<typeof namedIn> {
  const [inRows, inFile] = [namedIn(rows), namedIn(file)];
  return (inFile?.epoch ?? 0) > (inRows?.epoch ?? 0) ? inFile : inRows;
}

/** Whether a write of it would be committed now. A program that compares no row writes as soon as it runs. */
export function writes(world: SmallWorld, { activation, ...program }: Program): boolean {
  if (!program.alive || program.schema === null) return false;
  if (program.gate !== 'none') return program.gate === 'passed';
  if (program.granted === null || program.said?.state !== 'active' || program.relinquished !== null) return false;
  if (program.stray) return true;
  const row = namedIn(world.rows);
  return row?.activation === activation.activation && row.epoch === program.granted;
}

/** What the observer would sign of an incarnation now, Ready included; `null` while it knows no Expected. */
export function correlationOf({ projections, programs }: SmallWorld, key: IncarnationKey): Correlation | null {
  const projection = projections[key];
  if (projection === undefined) return null;
  const { activation, observed } = projection;
  const program = activation === null ? undefined : programs[activation.activation];
  const said = program?.said ?? null;
  const runs = observed === null || observed.gate === 'waiting' ? null : observed;
  const disagreements =
    said !== null && runs !== null && program !== undefined && runs.executable !== program.sealed
      ? [{ code: 'executable-mismatch' as const, detail: `Seen to run: ${runs.executable}.` }]
      : [];
  const present =
    said === null
      ? null
      : { state: said.state, epoch: said.epoch, sequence: said.sequence, observedAtMs: 0, fresh: true };
  const agrees =
    program?.alive === true &&
    runs !== null &&
    said?.state === 'active' &&
    disagreements.length === 0 &&
    (program.schema === null || said.epoch !== null);
  return {
    incarnation: key,
    activation: activation?.activation ?? null,
    present,
    ready: agrees ? receiptFor(projection, program, said) : projection.ready,
    disagreements,
  };
}

function receiptFor(
  { ready }: Projection,
  { activation: { activation, incarnation } }: Program,
  { epoch, sequence }: NonNullable<Program['said']>,
): Correlation['ready'] {
  if (ready?.activation === activation && ready.epoch === epoch) return ready;
  const receipt = digestJson({ incarnation, activation, epoch, sequence });
  return { receipt, activation, epoch, sequence, observedAtMs: 0 };
}
