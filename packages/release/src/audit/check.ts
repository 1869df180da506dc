/**
 * One thing that was looked at anew. `unknown` is what could not be looked at, never a pass (I10); `detail` says what
 * was seen, or why nothing was.
 */
export interface AuditCheck {
  readonly check: string;
  readonly verdict: 'ok' | 'differs' | 'unknown';
  readonly detail: string;
}

export const good = (check: string, detail: string): AuditCheck => ({ check, verdict: 'ok', detail });
export const differs = (check: string, detail: string): AuditCheck => ({ check, verdict: 'differs', detail });
export const unseen = (check: string, because: string): AuditCheck => ({ check, verdict: 'unknown', detail: because });

/** What a failed reading comes to: only "no such file" is a difference, everything else is unknown. */
export function unread(check: string, error: unknown, missing: string): AuditCheck {
  if (!(error instanceof Error)) throw error;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' ? differs(check, missing) : unseen(check, error.message);
}
