export { accountOf, uidOf } from './adapters/accounts.ts';
export { createDigestMemo } from './adapters/digest-memo.ts';
export { loadFleet, readFleet } from './adapters/fleet-loader.ts';
export { createHost } from './adapters/host.ts';
export { INSTALLED_ORIGIN } from './adapters/installed-source.ts';
export { releaseDirectory } from './adapters/release-store.ts';
export { verifiedTreeDigest } from './adapters/stages.ts';
export { objectId, type TreeShape, treeIdOf } from './adapters/tree-id.ts';
export type { AuditCheck } from './audit/check.ts';
export { auditInThread } from './audit/in-thread.ts';
export type { AuditRequest } from './audit/request.ts';
export {
  type AcceptedAuthorization,
  type AuthorizationBook,
  type Authorized,
  createAuthorizationBook,
} from './authorization/book.ts';
export { verifyAuthorization } from './authorization/frozen.ts';
export { AUTHORIZATION_KIND } from './authorization/record.ts';
export { type BindingDocument, parseBinding } from './binding/parse.ts';
export type { Binding } from './binding/schema.ts';
export {
  type BuildShelf,
  type BuildShelfOptions,
  type CarriedBuilds,
  createBuildShelf,
  type TakenBuild,
} from './carry/shelf.ts';
export { type BuildExport, openBuildExport } from './carry/statement.ts';
export { type Fault, faultsOf, type Place, renderFaults } from './configuration/fault.ts';
export { type Account, type Directories, resolveDirectories } from './fleet/directories.ts';
export { type Fleet, routeName } from './fleet/fleet.ts';
export { type FleetDocument, parseFleet } from './fleet/parse.ts';
export { readersOf } from './fleet/readers.ts';
export type { NotifierFile } from './fleet/schema.ts';
export type * from './model/plan.ts';
export { startKindOf } from './model/plan.ts';
export type * from './model/sealed-release.ts';
export type * from './model/source-facts.ts';
export { compilePlan, type PlanInputs, planDigest } from './plan/compile.ts';
export { type HostFacts, type HostQuestions, hostQuestions, type Lineage } from './plan/host-facts.ts';
export type * from './ports/host-port.ts';
export type * from './ports/input-port.ts';
export type * from './ports/release-port.ts';
export type * from './ports/runner-port.ts';
export type * from './ports/source-port.ts';
export type * from './ports/stage-port.ts';
export { parseRecipe, type RecipeDocument } from './recipe/parse.ts';
export type { Recipe } from './recipe/schema.ts';
export {
  type BuildObservations,
  IN_TOTO_PAYLOAD_TYPE,
  provenanceStatement,
  signedProvenance,
} from './seal/provenance.ts';
export { readReleaseRecord } from './seal/record.ts';
export { buildDigest, releaseDigest, sealRelease } from './seal/seal.ts';
export { checkDraft, type Draft, type DraftAnswer } from './service/draft.ts';
export type { InstalledTarget } from './service/installed-target.ts';
export { createLocalReleaseService, type LocalReleaseOptions, stagesDirectory } from './service/local.ts';
export type { ReleaseServicePorts } from './service/ports.ts';
export { createReleaseService } from './service/service.ts';
export { staysInside } from './source/links.ts';
export { type StagePaths, stageId, stagePaths } from './source/stage-paths.ts';
export { foldedName, unsafePath } from './source/tree-path.ts';
