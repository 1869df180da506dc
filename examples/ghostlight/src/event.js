import { createHash } from 'node:crypto';
import { ID_LIMIT_CHARACTERS, TEXT_LIMIT_CHARACTERS } from './limits.js';

/**
 * @typedef {{ id: string, text: string }} Draft
 * @typedef {{ seq: number, id: string, text: string, hash: string, epoch: number }} Event
 * @typedef {{ seq: number, hash: string, epoch: number }} Head
 */

/** What the first event follows. @type {Head} */
export const GENESIS = { seq: 0, hash: `sha256:${'0'.repeat(64)}`, epoch: 0 };

/**
 * The event that follows `previous`. Its hash is SHA-256 over the canonical JSON of
 * `[previous hash, seq, id, text, epoch]`, so nothing in the journal can change without every later hash changing.
 *
 * @param {Head} previous
 * @param {Draft} draft
 * @param {number} epoch the lease epoch that it is written under
 * @returns {Event}
 */
export function follow(previous, { id, text }, epoch) {
  const seq = previous.seq + 1;
  // JSON.stringify of an array of well-formed text and whole numbers is its canonical form (RFC 8785).
  const hash = createHash('sha256')
    .update(JSON.stringify([previous.hash, seq, id, text, epoch]))
    .digest('hex');
  return { seq, id, text, hash: `sha256:${hash}`, epoch };
}

/**
 * A draft from a request's body, or why it is none.
 *
 * @param {string} body
 * @returns {{ draft: Draft } | { fault: string }}
 */
export function readDraft(body) {
  let value;
  try {
    value = JSON.parse(body);
  } catch {
    return { fault: 'the body is not JSON' };
  }
  const fault =
    faultOf('id', value?.id, 1, ID_LIMIT_CHARACTERS) ?? faultOf('text', value?.text, 0, TEXT_LIMIT_CHARACTERS);
  return fault === null ? { draft: { id: value.id, text: value.text } } : { fault };
}

function faultOf(name, value, least, most) {
  if (typeof value !== 'string' || !value.isWellFormed()) return `${name} is not text`;
  return value.length < least || value.length > most ? `${name} has ${least} to ${most} characters` : null;
}
