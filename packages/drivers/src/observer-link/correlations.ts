import type { Correlation } from '@idunn/authority';
import type { Digest, Envelope } from '@idunn/kernel';
import type {
  Disagreement,
  IncarnationKey,
  ObserverRequest,
  PresentStatement,
  ReadyReceipt,
  Standing,
} from '@idunn/readiness';
import { MAX_CORRELATIONS } from './limits.ts';

/**
 * The newest verified word of the observer about each incarnation. Each method answers the correlation that changed in
 * more than its age, or `null`.
 */
export class Correlations {
  readonly #held = new Map<IncarnationKey, Correlation>();

  get(key: IncarnationKey): Correlation | null {
    return this.#held.get(key) ?? null;
  }

  clear(): void {
    this.#held.clear();
  }

  /**
   * A statement is the whole word about presence; a receipt stays only with the very launch and epoch it names (I5).
   */
  present(statement: PresentStatement, atMs: number): Correlation | null {
    const { incarnation, activation, state, epoch, presenceSequence, fresh, disagreements } = statement;
    const before = this.get(incarnation)?.ready ?? null;
    const stands = fresh && state === 'active' && disagreements.length === 0;
    const same = before !== null && before.activation === activation && before.epoch === epoch;
    return this.#put({
      incarnation,
      activation,
      present: { state, epoch, sequence: presenceSequence, observedAtMs: atMs, fresh },
      ready: stands && same ? before : null,
      disagreements: disagreements.map(plain),
    });
  }

  /** A receipt counts beside the statement that it completes, never alone (I4). */
  ready(said: { receipt: ReadyReceipt; digest: Digest; envelope: Envelope }, atMs: number): Correlation | null {
    const { incarnation, activation, epoch, presenceSequence: sequence } = said.receipt;
    const held = this.get(incarnation);
    if (held === null || held.activation !== activation || held.present === null) return null;
    if (held.present.epoch !== epoch || !held.present.fresh || held.disagreements.length > 0) return null;
    const { digest: receipt, envelope } = said;
    return this.#put({ ...held, ready: { receipt, activation, epoch, sequence, observedAtMs: atMs, envelope } });
  }

  standing(standing: Standing, atMs: number): Correlation | null {
    const { incarnation, activation, present, ready } = standing;
    const before = this.get(incarnation)?.ready ?? null;
    return this.#put({
      incarnation,
      activation,
      present:
        present === null
          ? null
          : {
              state: present.state,
              epoch: present.epoch,
              sequence: present.presenceSequence,
              observedAtMs: atMs,
              fresh: present.fresh,
            },
      ready:
        ready === null || activation === null
          ? null
          : before?.receipt === ready.receipt
            ? before
            : {
                receipt: ready.receipt,
                activation,
                epoch: ready.epoch,
                sequence: ready.presenceSequence,
                observedAtMs: atMs,
              },
      disagreements: standing.disagreements.map(plain),
    });
  }

  /** What the observer acknowledged is how it stands until it says more. */
  acknowledged(request: ObserverRequest): Correlation | null {
    switch (request.kind) {
      case 'anchor':
        return null;
      case 'publish-expected':
        return this.get(request.incarnation) === null ? this.#put(bare(request.incarnation, null)) : null;
      case 'publish-activation': {
        const { incarnation, activation } = request.activation;
        return this.get(incarnation)?.activation === activation ? null : this.#put(bare(incarnation, activation));
      }
      case 'demote':
        // One that another took the place of may be demoted too: the word about the current one stands.
        return this.get(request.incarnation)?.activation === request.activation
          ? this.#put(bare(request.incarnation, null))
          : null;
      case 'withdraw':
        this.#held.delete(request.incarnation);
        return null;
    }
  }

  #put(next: Correlation): Correlation | null {
    const before = this.get(next.incarnation);
    if (before === null && this.#held.size >= MAX_CORRELATIONS) return null;
    this.#held.set(next.incarnation, next);
    return before !== null && wordOf(before) === wordOf(next) ? null : next;
  }
}

const plain = ({ code, detail }: Disagreement): Disagreement => ({ code, detail });

export const bare = (incarnation: IncarnationKey, activation: string | null): Correlation => ({
  incarnation,
  activation,
  present: null,
  ready: null,
  disagreements: [],
});

/** All that a correlation says but which presence said it, and when. */
export const wordOf = ({ activation, present, ready, disagreements }: Correlation): string =>
  JSON.stringify([activation, present?.state, present?.epoch, present?.fresh, ready?.receipt, disagreements]);
