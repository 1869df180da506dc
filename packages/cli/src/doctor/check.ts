import type { DoctorCheck } from '@idunn/client';

export const good = (check: string, detail: string): DoctorCheck => ({ check, verdict: 'good', detail, remedy: null });
export const note = (check: string, detail: string, remedy: string | null = null): DoctorCheck => ({
  check,
  verdict: 'note',
  detail,
  remedy,
});
export const bad = (check: string, detail: string, remedy: string): DoctorCheck => ({
  check,
  verdict: 'bad',
  detail,
  remedy,
});
/** What could not be read is neither good nor bad (I10). */
export const unknown = (check: string, because: string): DoctorCheck => ({
  check,
  verdict: 'unknown',
  detail: because,
  remedy: null,
});

export const why = (error: unknown): string => (error instanceof Error ? error.message : String(error));
