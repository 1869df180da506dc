/** Most connections on the presence socket; beyond it the oldest that never proved itself makes room. */
export const MAX_PRESENCE_CONNECTIONS = 4_096;
/** Most daemons that are linked at once: one, and room for one that is being replaced. */
export const MAX_LINKS = 4;
/** Most bytes that wait to be read by one link; a link that is slower is cut and asks for everything again. */
export const MAX_LINK_BACKLOG_BYTES = 8 * 1024 * 1024;
/** Most bytes of hints that wait to be read by one workload; further hints are dropped. */
export const MAX_HINT_BACKLOG_BYTES = 65_536;
/** How long presences that changed nothing are gathered under one signature, in milliseconds. */
export const REFRESH_MS = 1_000;
/** How often a standby looks whether the incumbent's store is free, in milliseconds. */
export const TAKE_OVER_EVERY_MS = 1_000;
/** After the incumbent was seen to go: how often it looks, and how many times, before it is patient again. */
export const TAKE_OVER_HURRY_MS = 20;
export const TAKE_OVER_HURRIES = 25;
/** Waits between two connections of a standby to the incumbent, in milliseconds. */
export const DIAL_FROM_MS = 50;
export const DIAL_TO_MS = 5_000;
/** Most bytes of standings in one batch: with its signature and base64 it stays below the longest line. */
export const MAX_BATCH_BYTES = 131_072;
/** Statement sequences of one run of the observer; the next run begins above them. */
export const SEQUENCES_PER_ERA = 2 ** 32;
