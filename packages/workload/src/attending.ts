/**
 * What the program needs that speaks for others: it reads their activation directories and signs their presence, as
 * they would themselves.
 */
export { readLines, writeLine } from './edge/lines.ts';
export { type Machine, realMachine } from './edge/machine.ts';
export { IdunnError, messageOf } from './errors.ts';
export type { AttendedContract, AttendedProbe } from './launch/attended.ts';
export { type Activation, readActivation } from './launch/directory.ts';
export type { LaunchDocument } from './launch/document.ts';
export { ObserverLink } from './presence/observer-link.ts';
export { type PresenceState, type Speaker, signPresence, type Word } from './presence/presence.ts';
export { isRepeatedTogether, TOGETHER_MS } from './presence/together.ts';
export type { Envelope } from './words/envelope.ts';
