import type { EngineApi, Requester } from '@idunn/authority';
import type {
  AuthorizationAnswer,
  Authorizations,
  BuildAnswer,
  DoctorCheck,
  DossierAnswer,
  ExportedBuild,
  FleetAnswer,
  Incidents,
  KeyAnswer,
  Keys,
  TargetStatus,
  Verify,
  Version,
} from '@idunn/client';
import type { Clock, HistoryEntry, Outcome } from '@idunn/kernel';
import type { Plan, SealedRelease } from '@idunn/release';

/** The log of one activation, with everything that was bound as a secret taken out (F30). */
export interface LogReader {
  tail(target: string, activation: string, lines: number): Promise<readonly string[]>;
  /** Lines as they are written, after the last `lines`; ends with the activation's log or when `signal` aborts. */
  follow(target: string, activation: string, lines: number, signal: AbortSignal): AsyncIterable<string>;
  /** Whether a log of that activation is kept. */
  has(target: string, activation: string): Promise<boolean>;
  /** The activation that was launched last, living or not; `null` when there never was one. */
  newest(target: string): Promise<string | null>;
}

/** What the API speaks for. Composition fills it; tests fill it with fakes. */
export interface ApiParts {
  readonly engine: EngineApi;
  readonly clock: Clock;
  /** By target, whom its admitted process runs as where that is not the daemon's own user. */
  runsAs(): Promise<Readonly<Record<string, NonNullable<TargetStatus['runsAs']>>>>;
  version(): Promise<Version>;
  /** The fleet as its files stand now. */
  fleet(): Promise<Outcome<FleetAnswer>>;
  plan(target: string, ref: string | null, signal: AbortSignal): Promise<Outcome<Plan>>;
  release(digest: string): Promise<Outcome<SealedRelease>>;
  /** What is on record of an incarnation, given by its key or by the release that it runs. */
  dossier(of: { readonly incarnation: string } | { readonly release: string }): Promise<DossierAnswer | null>;
  verify(target: string, options: { readonly source: boolean }, signal: AbortSignal): Promise<Outcome<Verify>>;
  history(options: { subject?: string; limit: number }): Promise<readonly HistoryEntry[]>;
  /** Open incidents, and with `all` those that are over, of one subject or of the fleet. */
  incidents(options: { subject?: string; all: boolean }): Promise<Incidents['incidents']>;
  readonly logs: LogReader;
  /** What was read last of the programs that are attended, by target. */
  attended(): Promise<Readonly<Record<string, TargetStatus['attended']>>>;
  doctor(): Promise<readonly DoctorCheck[]>;
  keys(): Promise<Omit<Keys, 'schema'>>;
  createKey(target: string): Promise<Outcome<KeyAnswer>>;
  authorizations(target: string): Promise<Outcome<Authorizations>>;
  authorize(target: string, envelope: unknown, requester: Requester): Promise<Outcome<AuthorizationAnswer>>;
  /** The accepted authorization with this digest; `null` when no target's newest words hold it. */
  authorization(digest: string): Promise<AuthorizationAnswer | null>;
  /** What is known of a build, sealed here or taken in. */
  build(build: string): Promise<Outcome<BuildAnswer>>;
  /** Copies a build that was sealed here out for another fleet. */
  exportBuild(build: string): Promise<Outcome<ExportedBuild>>;
  /** Takes a build in that a builder of the target's binding exported. */
  takeBuild(target: string, directory: string): Promise<Outcome<BuildAnswer>>;
  /** Prometheus text. */
  metrics(): Promise<string>;
}
