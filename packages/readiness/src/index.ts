export {
  type Correlated,
  type CorrelationInput,
  correlate,
  type Obstacle,
  type Present,
} from './correlation/correlate.ts';
export { lineReader, MAX_LINE_BYTES } from './link/lines.ts';
export {
  ackSchema,
  batchSchema,
  HEARTBEAT_MS,
  helloSchema,
  LINK_SCHEMAS,
  type LinkLineType,
  MAX_ANCHOR_KEYS,
  MAX_BATCH,
  type ObserverRequest,
  observerRequestSchema,
  SILENCE_MS,
  type Standing,
  signedRequestSchema,
  standingSchema,
  welcomeSchema,
} from './link/messages.ts';
export { deriveExpected, incarnationKey, type PlanFacts, type SealedFacts } from './model/derive-expected.ts';
export type * from './model/expected.ts';
export type * from './model/presence.ts';
export {
  activationSchema,
  expectedSchema,
  observedRuntimeSchema,
  presenceSchema,
  presentStatementSchema,
  readyReceiptSchema,
} from './model/schemas.ts';
export {
  isFresh,
  NO_TRAIL,
  type PresenceTrail,
  type VerifiedPresence,
  verifyPresence,
} from './presence/verify-presence.ts';
export {
  decidePublication,
  livingActivations,
  type PublicationChange,
  type PublicationView,
} from './publication/decide-publication.ts';
export {
  type AnchorRecord,
  anchorRecordSchema,
  type IncarnationRecord,
  incarnationRecordSchema,
  MAX_INCARNATIONS,
  MAX_REPLACED,
  MAX_SPENT,
} from './publication/records.ts';
