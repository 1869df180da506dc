import type { PresenceTrail } from '@idunn/readiness';

/**
 * How far each activation's presences were accepted. Written before a presence counts, so that a replay is refused also
 * after the observer was killed (I5). An activation does not outlive the boot of its machine, and neither does its
 * trail.
 */
export interface Trails {
  read(activation: string): PresenceTrail | null;
  /** Kept when it returns. Throws when the disk refuses it: the presence then does not count (F28). */
  write(activation: string, trail: PresenceTrail): void;
  forget(activation: string): void;
  close(): void;
}
