const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SPAN = /^(\d{1,5})([mhd])$/;

/** Whether a person's word for a moment can be read: `7d`, `12h`, `30m` from now, or ISO 8601 such as 2027-01-31. */
export const isMoment = (text: string): boolean =>
  SPAN.test(text) || (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text)));

/** The moment that such a word means, in milliseconds of the wall clock; the word was looked at before. */
export function instantMs(text: string, nowMs: number): number {
  const [, count, unit] = SPAN.exec(text) ?? [];
  return unit === undefined ? Date.parse(text) : nowMs + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
