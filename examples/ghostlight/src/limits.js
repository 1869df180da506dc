/** Every queue, buffer and answer has a limit, and it stands here. */
export const ID_LIMIT_CHARACTERS = 128;
export const TEXT_LIMIT_CHARACTERS = 4_096;
export const BODY_LIMIT_BYTES = 32_768;
/** Events that wait for the next commit. */
export const QUEUE_LIMIT_EVENTS = 10_000;
/** Events that share one commit. */
export const BATCH_LIMIT_EVENTS = 512;
/** Events in one answer of `GET /events`. */
export const PAGE_LIMIT_EVENTS = 1_000;
/** Readers of `GET /stream` at once. */
export const STREAM_LIMIT_READERS = 256;
/** Events that a reader may have missed; beyond it, it is told to read pages first. */
export const STREAM_REPLAY_LIMIT_EVENTS = 10_000;
/** Bytes that wait for a reader who does not read; beyond it, the reader is let go. */
export const STREAM_BUFFER_LIMIT_BYTES = 1_048_576;
