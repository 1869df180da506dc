export { type Verdict, verifyLines } from './audit/chain.ts';
export { type FileTrail, openFileTrail } from './audit/file-trail.ts';
export type { Actor, AuditDraft, AuditLine, AuditTrail } from './audit/port.ts';
export type { Auditing } from './audit/record.ts';
export {
  type LoadPolicy,
  loadManifest,
  type SealRequest,
  seal,
  type Unsealed,
  unseal,
  type VerifyReport,
  verify,
} from './bundle/bundle.ts';
export { removeTree } from './bundle/files.ts';
export { BUNDLE_VERSION, type BundleManifest, manifestPath } from './bundle/manifest.ts';
export type { Progress } from './bundle/pack.ts';
export { type AppData, type Quiesced, quiesced, requireQuiesced } from './data/app-data.ts';
export { DIRECTORY_DUMP, type DirectoryOptions, directoryData } from './data/directory.ts';
export { type Loaded, type LoadRequest, loadInto } from './data/load-into.ts';
export { POSTGRES_DUMP, type PostgresOptions, postgresData } from './data/postgres.ts';
export { POSTGRES_PROGRAMS, type PostgresConnection, type PostgresPrograms } from './data/postgres-programs.ts';
export {
  type Completeness,
  completeness,
  type DumpReport,
  type LoadReport,
  type Part,
  part,
  partLines,
  requireComplete,
} from './data/report.ts';
export { SQLITE_DUMP, type SqliteOptions, sqliteData } from './data/sqlite.ts';
export type { SqliteWatermark } from './data/sqlite-database.ts';
export { NOTHING_RUNS, type Standing } from './data/standing.ts';
export { type Discard, requiresConfirmation, type Watermark, wouldDiscard } from './data/watermark.ts';
export { type Generation, generationsOf, newGeneration } from './generations/generation.ts';
export {
  type PlanStep,
  RAISE_PHASES,
  type RaisePhase,
  raisePlan,
  renderPlan,
  type Switch,
  sleepPlan,
  switchPlan,
  wakePlan,
} from './generations/plan.ts';
export { type RunOptions, runPlan } from './generations/run.ts';
export { type Clearance, covers, requireCovers, requireSlot } from './guard/clearance.ts';
export {
  type ClearedMove,
  createGuard,
  type Guard,
  type GuardOptions,
  type Move,
  type MoveOptions,
} from './guard/guard.ts';
export { GUARD_FLAG, GUARD_VARIABLE, type Keys, missingKeys, NO_KEYS } from './guard/keys.ts';
export { EXAMPLE_LADDER } from './ladder/example.ts';
export { FAULT_LIMIT, type Fault } from './ladder/fault.ts';
export { generationName, isOf } from './ladder/generation-name.ts';
export { checkDataFlow, checkPromotion, type Hop, rank, requireHop } from './ladder/hop.ts';
export { LADDER_VERSION, type Ladder, type Place, type Role, type Slot } from './ladder/model.ts';
export { parseLadder } from './ladder/parse.ts';
export { roleOf } from './ladder/roles.ts';
export { guardedOperations } from './operations/guarded.ts';
export type * from './operations/port.ts';
export { type RolloutOutcome, type RolloutPlan, renderRollout, rollout } from './operations/rollout.ts';
export { type OpenLadder, openLadder, type PlacesOptions } from './places/open.ts';
export { parsePlaces } from './places/parse.ts';
export { type DataPlace, type FleetPlace, PLACES_VERSION, type PlacesFile, type RunsPlace } from './places/schema.ts';
export type { Demotion } from './registry/merge.ts';
export type { ReferenceKind, TargetRef } from './registry/reference.ts';
export { createRegistry, type DemotionPolicy, loadOver, type SlotRegistry } from './registry/registry.ts';
export type { Resolution } from './registry/resolve.ts';
export { jsonSchemas } from './schemas.ts';
export {
  notGreen,
  type Observation,
  observation,
  parseTopology,
  type RungState,
  TOPOLOGY_VERSION,
  type Topology,
  type TopologyNode,
  topology,
} from './topology/topology.ts';
