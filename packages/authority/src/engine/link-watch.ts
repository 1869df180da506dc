import type { IncidentCode } from '../model/incident-code.ts';
import type { Helper } from '../ports/link-port.ts';
import { WHOLE_FLEET } from '../stops/record.ts';
import type { EngineCore } from './core.ts';

const LOST = {
  observer: 'observer-unreachable',
  router: 'router-unreachable',
  attendant: 'attendant-unreachable',
} as const satisfies Record<Helper, IncidentCode>;

/**
 * The loss of a link to a program that the whole fleet leans on, as incidents of the fleet. Nothing is decided by it:
 * whoever needs the program asks it. `observed`: an observer was admitted, without which there is none to be lost.
 */
export class LinkWatch {
  readonly #core: EngineCore;
  readonly #observed: () => boolean;

  constructor(core: EngineCore, observed: () => boolean) {
    this.#core = core;
    this.#observed = observed;
  }

  start(): void {
    for (const link of Object.values(this.#core.ports.links ?? {})) link.onStanding(() => this.look());
    this.look();
  }

  look(): void {
    if (this.#core.stopped) return;
    const causes = new Map<IncidentCode, string>();
    const unsure = new Set<IncidentCode>();
    for (const helper of Object.keys(LOST) as Helper[]) {
      const standing = this.#core.ports.links?.[helper]?.standing();
      if (standing?.kind === 'trying') unsure.add(LOST[helper]);
      if (standing?.kind !== 'down' || (helper === 'observer' && !this.#observed())) continue;
      causes.set(LOST[helper], standing.because);
    }
    this.#core.incidents.report(WHOLE_FLEET, causes, 'links', unsure);
  }
}
