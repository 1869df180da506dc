/**
 * Text of a value in which equal ones are equal: names in order, moments as distances from now, and nothing that only
 * people read.
 */
export function plain(value: unknown, nowMs: number): string {
  return told(value, nowMs).text;
}

interface Told {
  readonly text: string;
  /** It holds no moment: the same at any time. */
  readonly timeless: boolean;
}

/** Values are replaced, never changed. */
const known = new WeakMap<object, Told>();

/** For people, for the record of when, or a constant of the activation that is named beside it. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'admittedAt',
  'runningSince',
  'observedAtMs',
  'reason',
  'remedy',
  'detail',
  'what',
  'publicKey',
  'keyId',
  'endpoint',
  'argv',
  'identity',
  'plans',
  'plan',
  'build',
  'revision',
]);

function told(value: unknown, nowMs: number): Told {
  if (typeof value !== 'object' || value === null) return { text: String(value), timeless: true };
  const before = known.get(value);
  if (before !== undefined) return before;
  const fresh = Array.isArray(value) ? listed(value, nowMs) : named(value as Record<string, unknown>, nowMs);
  if (fresh.timeless) known.set(value, fresh);
  return fresh;
}

function listed(value: readonly unknown[], nowMs: number): Told {
  const items = value.map((item) => told(item, nowMs));
  return { text: `[${items.map(({ text }) => text).join()}]`, timeless: items.every(({ timeless }) => timeless) };
}

function named(value: Readonly<Record<string, unknown>>, nowMs: number): Told {
  if ('monotonicMs' in value) return { text: `@${distance(value['monotonicMs'] as number, nowMs)}`, timeless: false };
  const keys = Object.keys(value);
  if (keys[0] !== undefined && isNamed(keys[0])) return byContent(value, keys, nowMs);
  let text = '{';
  let timeless = true;
  for (const name of keys.sort()) {
    const item = value[name];
    if (LEFT_OUT.has(name) || item === undefined) continue;
    const part = told(item, nowMs);
    text += `${name}:${part.text};`;
    timeless &&= part.timeless;
  }
  return { text: `${text}}`, timeless };
}

/** By identifier: which number each got must not matter, so they stand in the order of what is said of them. */
function byContent(value: Readonly<Record<string, unknown>>, keys: readonly string[], nowMs: number): Told {
  const parts = keys.map((name) => {
    const { text, timeless } = told(value[name], nowMs);
    return { text: `${name}:${text}`, timeless };
  });
  return { text: nameless(parts.map(({ text }) => text)).join(), timeless: parts.every(({ timeless }) => timeless) };
}

export const IDS = /\b(?:act|tx|req|nonce)-\d+/g;
const isNamed = (key: string): boolean => key.search(IDS) >= 0;

/** In the order that they have without their identifiers. */
export const nameless = (texts: readonly string[]): readonly string[] =>
  texts
    .map((text) => ({ text, bare: text.replace(IDS, '') }))
    .sort((a, b) => (a.bare < b.bare ? -1 : a.bare > b.bare ? 1 : 0))
    .map(({ text }) => text);

/** Whole milliseconds from now; steps of one instant are nearer than that. */
export const distance = (atMs: number, nowMs: number): number => Math.round(atMs - nowMs);
