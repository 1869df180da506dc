import type { Refusal } from '@idunn/kernel';

/** Carries a refusal out of a stream to where it is answered. Never leaves this folder. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}
