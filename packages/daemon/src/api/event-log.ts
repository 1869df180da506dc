import type { EngineEvent } from '@idunn/authority';

export interface NumberedEvent {
  readonly id: string;
  readonly event: EngineEvent;
}

/** How many events are kept for readers that come back; older ones are told by a snapshot. */
const KEPT_EVENTS = 4_096;

/** The newest events of this daemon's life, numbered, so that a reader can come back with Last-Event-ID. */
export class EventLog {
  readonly #life: string;
  readonly #events: NumberedEvent[] = [];
  readonly #listeners = new Set<(numbered: NumberedEvent) => void>();
  #next = 1;

  /** `life` is fresh for each daemon: an id of an earlier one is never mistaken for one of ours. */
  constructor(life: string) {
    this.#life = life;
  }

  append(event: EngineEvent): void {
    const numbered = { id: `${this.#life}:${this.#next++}`, event };
    this.#events.push(numbered);
    if (this.#events.length > KEPT_EVENTS) this.#events.shift();
    for (const listener of this.#listeners) listener(numbered);
  }

  /** What came after `id`; `null` when that can no longer be said. */
  since(id: string): readonly NumberedEvent[] | null {
    const [life, number] = splitId(id);
    if (life !== this.#life || number === null || number >= this.#next) return null;
    const oldest = this.#next - this.#events.length;
    return number + 1 < oldest ? null : this.#events.slice(number + 1 - oldest);
  }

  subscribe(listener: (numbered: NumberedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function splitId(id: string): [string, number | null] {
  const colon = id.lastIndexOf(':');
  const number = Number(id.slice(colon + 1));
  return [id.slice(0, colon), Number.isSafeInteger(number) && number > 0 ? number : null];
}
