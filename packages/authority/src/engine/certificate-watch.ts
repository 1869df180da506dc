import { certificateIncidents } from '../decisions/certificates.ts';
import type { IncidentCode } from '../model/incident-code.ts';
import type { TargetActor } from './actor.ts';
import type { EngineCore } from './core.ts';

/** First everything that runs is taken up; what an earlier engine opened is looked at before it would close. */
const FIRST_LOOK_MS = 500;
/** Files are told of when they change; that an end has come near is found by looking. */
const LOOK_AGAIN_MS = 3_600_000;
const CERTIFICATE_CODES = new Set(['route-certificate-expiring', 'route-certificate-unusable'] as const);

/** What is amiss with the certificates of each route: files that cannot be served, and an end that is near. */
export class CertificateWatch {
  readonly #core: EngineCore;
  readonly #actors: () => Iterable<TargetActor>;
  #cancelTimer: (() => void) | null = null;

  constructor(core: EngineCore, actors: () => Iterable<TargetActor>) {
    this.#core = core;
    this.#actors = actors;
  }

  start(): void {
    this.#lookIn(FIRST_LOOK_MS);
  }

  /** Looks at every route now, and again before long. */
  look(): void {
    if (this.#core.stopped) return;
    for (const actor of this.#actors()) this.lookAt(actor);
    this.#lookIn(LOOK_AGAIN_MS);
  }

  lookAt(actor: TargetActor | undefined): void {
    if (actor === undefined || this.#core.stopped) return;
    void this.#read(actor).catch((fault: unknown) => this.#core.fault(fault, actor.target));
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  #lookIn(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#core.ports.timers.after(delayMs, () => this.look());
  }

  async #read({ target, record }: TargetActor): Promise<void> {
    const { ports, library, incidents } = this.#core;
    const admitted = record?.value.admitted ?? null;
    const contract = admitted === null ? null : ((await library.plan(admitted.plan))?.route ?? null);
    const served = contract?.tls === null || contract === null ? null : await ports.route.read(contract.name);
    if (this.#core.stopped) return;
    // What could not be read closes nothing (I10).
    if (served?.kind === 'unknown') return incidents.report(target, new Map(), 'certificates', CERTIFICATE_CODES);
    const found = served?.kind === 'seen' ? served.value.certificates : [];
    const causes = new Map<IncidentCode, string>();
    for (const { code, detail } of certificateIncidents(found, ports.clock.wallMs())) {
      causes.set(code, [causes.get(code), detail].filter((one) => one !== undefined).join(' '));
    }
    incidents.report(target, causes, 'certificates');
  }
}
