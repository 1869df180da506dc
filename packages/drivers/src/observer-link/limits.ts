/** Waits between two attempts to reach the observer, in milliseconds; each doubles the one before. */
export const RECONNECT_FROM_MS = 20;
export const RECONNECT_TO_MS = 2_000;
/** How long the observer may take to acknowledge a request, in milliseconds. */
export const REQUEST_LIMIT_MS = 10_000;
/** Most requests that wait for the observer's answer. */
export const MAX_REQUESTS = 8_192;
/** Most incarnations whose newest word is kept. */
export const MAX_CORRELATIONS = 8_192;
