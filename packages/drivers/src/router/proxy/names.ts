import { placesOf } from '../model/place.ts';
import type { LiveRoute } from './route.ts';

/** The routes of one address, told apart by the names that they serve there now. */
export class Names {
  readonly #text: string;
  readonly #routes = new Set<LiveRoute>();
  #index: ReadonlyMap<string, LiveRoute> | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  get size(): number {
    return this.#routes.size;
  }

  has(route: LiveRoute): boolean {
    return this.#routes.has(route);
  }

  add(route: LiveRoute): void {
    this.#routes.add(route);
    this.#index = null;
  }

  delete(route: LiveRoute): void {
    this.#routes.delete(route);
    this.#index = null;
  }

  /** What one of them serves has changed. */
  changed(): void {
    this.#index = null;
  }

  /** Any of them that serves here. */
  get first(): LiveRoute | undefined {
    return this.#served.get('') ?? this.#served.values().next().value;
  }

  /**
   * The route of this name: exactly, by `*.` in place of its first label, else the one without names. `undefined` when
   * they all serve others.
   */
  find(name: string): LiveRoute | undefined {
    const index = this.#served;
    return index.get(name) ?? index.get(name.replace(/^[^.]*/, '*')) ?? index.get('');
  }

  get #served(): ReadonlyMap<string, LiveRoute> {
    if (this.#index !== null) return this.#index;
    const index = new Map<string, LiveRoute>();
    for (const route of this.#routes) {
      const place = placesOf(route.served?.contract ?? null).find(({ text }) => text === this.#text);
      if (place === undefined) continue;
      for (const name of place.names.length === 0 ? [''] : place.names) index.set(name, route);
    }
    this.#index = index;
    return index;
  }
}

/** The name in a Host field or of a TLS client: lower case, without port or a last dot. */
export const nameOf = (host: string | undefined): string =>
  (host ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
