import type { Moment } from '@idunn/kernel';
import type { IncidentRecord } from '../records/incident.ts';
import { WHOLE_FLEET } from '../stops/record.ts';

/**
 * A record store that cannot be written cannot keep its own incident, and nothing else can be acted on: so that one is
 * told at once, out of memory. It opens with the second write in a row that came to nothing; the history gets it once
 * it is over.
 */
export class StoreOutage {
  #detail: string | null = null;
  #open: IncidentRecord | null = null;

  /** Open, and told to be. */
  get open(): IncidentRecord | null {
    return this.#open;
  }

  get begun(): boolean {
    return this.#detail !== null;
  }

  /** A write came to nothing. Answers what is to be told of it. */
  failed(detail: string, id: () => string, openedAt: Moment): IncidentRecord | null {
    const isFirst = this.#detail === null;
    this.#detail = detail;
    if (isFirst || this.#open !== null) return null;
    const about = { target: WHOLE_FLEET, code: 'store-fault', detail } as const;
    this.#open = { schema: 'idunn.incident/v1', id: id(), ...about, openedAt, told: true };
    return this.#open;
  }

  over(): void {
    this.#detail = null;
    this.#open = null;
  }
}
