export { canonicalJson } from './canonical.ts';
export { type CatalogueEntry, type Code, catalogue, catalogueByRoom, isCode } from './catalogue/index.ts';
export { type Clock, elapsedMs, type Ids, type Moment, moment, risingId, type Timers } from './clock.ts';
export {
  type Envelope,
  type Header,
  keyIdOf,
  PAYLOAD_TYPE,
  preAuthEncoding,
  publicKeyFromBase64,
  publicKeyToBase64,
  type SignedPayload,
  type SigningKey,
  signEnvelope,
  signedBy,
} from './crypto/envelope.ts';
export {
  createKeyFile,
  type KeyFile,
  keyRecordPath,
  loadKeyFile,
  loadKeyRecord,
  readSeedFile,
  writeSeedFile,
} from './crypto/key-file.ts';
export {
  freshSeed,
  KEY_PURPOSES,
  type KeyPurpose,
  type KeyRecord,
  type KeyUse,
  keyRecordSchema,
  publicKeyOf,
  signingKeyFromSeed,
  usableKey,
  type VerificationKey,
  verificationKey,
  verificationKeyOf,
} from './crypto/keys.ts';
export {
  envelopeSchema,
  headerSchema,
  MAX_PAYLOAD_BYTES,
  type OpenedEnvelope,
  openEnvelope,
  type Shape,
  type VerifiedPayload,
  verifyEnvelope,
} from './crypto/open-envelope.ts';
export {
  authorizationSpan,
  EVERY_MACHINE,
  openReleaseAuthorization,
  RELEASE_AUTHORIZATION,
  type ReleaseAuthorization,
  releaseAuthorizationSchema,
  signReleaseAuthorization,
} from './crypto/release-authorization.ts';
export { DIGEST_PATTERN, type Digest, digestBytes, digestJson, isDigest } from './digest.ts';
export { absent, type Evidence, seen, unknown } from './evidence.ts';
export type { Json, JsonObject } from './json.ts';
export { type Outcome, ok, type Refusal, refusal, refused } from './refusal.ts';
export {
  checkKey,
  conflictOf,
  type EncodedBatch,
  encodeBatch,
  isRecordId,
  pageLimit,
  raised,
  type Versions,
} from './store/batch.ts';
export { chained, EMPTY_HISTORY, type HistoryHead, historyEntrySchema } from './store/history.ts';
export { type RecordCodec, type RecordKind, recordCodec } from './store/kinds.ts';
export {
  type Batch,
  type CommitResult,
  type HistoryDraft,
  type HistoryEntry,
  type Mutation,
  type RecordKey,
  type RecordStore,
  type RecordValue,
  type Space,
  type StoredRecord,
  StoreFault,
} from './store/port.ts';
export { openRecordStore, type SqliteRecordStore } from './store/sqlite/open.ts';
export { systemClock } from './system/clock.ts';
export { randomIds } from './system/ids.ts';
export { keepSocket } from './system/kept-socket.ts';
export { type PlainFile, readPlainFile, readPlainFileSync } from './system/plain-file.ts';
export { listenPrivately, type PrivateServer, type SocketAudience } from './system/private-socket.ts';
export { type Held, holdLock } from './system/process-lock.ts';
export { replaceFile, type Written } from './system/replace-file.ts';
export { systemTimers } from './system/timers.ts';
