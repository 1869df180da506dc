import type { LinkPort, LinkStanding } from '@idunn/authority';
import { type Code, type Outcome, ok, type Refusal, refusal, refused, type Timers } from '@idunn/kernel';
import type { Hung } from './hung.ts';
import type { ControlLink, HelperProtocol } from './link.ts';
import { type HelperLaunch, startHelper } from './start.ts';

/** What every helper says of itself. */
export interface HelperHello {
  readonly pid: number;
  /** Digest of the installed bytes that it was started from, as its starter named them. */
  readonly build: string;
}

interface KeptProtocol extends HelperProtocol {
  readonly answers: { readonly hello: HelperHello };
}

export interface KeeperOptions<P extends KeptProtocol> {
  readonly link: ControlLink<P>;
  readonly launch: HelperLaunch;
  readonly codes: { readonly unreachable: Code; readonly alreadyRunning: Code };
  /** Told to the running helper that is to make way for the installed bytes; left out where it is never replaced. */
  readonly replace?: (hello: P['answers']['hello']) => Promise<'asked' | 'stays'>;
  readonly hung: Hung;
  readonly timers: Timers;
}

const RECONNECT_MS = { first: 5, most: 1_000 };
/** How often a helper that somebody else is starting, or one that makes way, is looked for, and how often at most. */
const ELSEWHERE = { everyMs: 20, times: 250 };
/** How often one that hangs is asked in one attempt, each for as long as an answer may take. */
const MUTE_TIMES = 5;
/** How long somebody waits who only looks. */
const LOOK_MS = 2_000;

/** Keeps one helper running: found or started, and brought back at once when it dies, for ever. */
export class HelperKeeper<P extends KeptProtocol> implements LinkPort {
  readonly #options: KeeperOptions<P>;
  #ensuring: Promise<Outcome<P['answers']['hello']>> | null = null;
  #kept = false;
  /** Of the last one that answered, or that was seen to hang. */
  #pid: number | null = null;
  #reviving = false;
  /** Why it is not linked now, where it was or an attempt has ended. */
  #loss: string | null = null;
  /** In the last attempt it was asked again and again, and never answered. */
  #hangs = false;
  readonly #listeners: (() => void)[] = [];

  constructor(options: KeeperOptions<P>) {
    this.#options = options;
  }

  /** Connects to the helper, starting it when none runs, and from then on keeps it. Concurrent calls share one try. */
  ensure(): Promise<Outcome<P['answers']['hello']>> {
    this.#kept = true;
    return this.#attempt();
  }

  /** One that could not be reached is tried again and again, though nobody asks for it any more. */
  goOn(): void {
    void this.#revive();
  }

  /** As `ensure`, for somebody who only looks: it is looked for on, and nobody waits for it long. */
  async look(): Promise<Outcome<P['answers']['hello']>> {
    const { timers, codes, launch } = this.#options;
    const late = Promise.withResolvers<Outcome<never>>();
    const withdraw = timers.after(LOOK_MS, () => {
      const because = this.#loss ?? `The ${launch.name} is still looked for.`;
      late.resolve(refused(refusal(codes.unreachable, because)));
    });
    return Promise.race([this.ensure(), late.promise]).finally(withdraw);
  }

  /** The link went down. */
  lost(): void {
    const { link, launch } = this.#options;
    const gone = `The ${launch.name} has gone.`;
    this.#stands(link.isMute ? this.#hanging(`The ${launch.name} does not answer any more.`) : gone);
    void this.#revive();
  }

  letGo(): void {
    this.#kept = false;
  }

  standing(): LinkStanding {
    if (this.#options.link.hello !== null) return { kind: 'up' };
    if (this.#loss !== null) return { kind: 'down', because: this.#loss };
    return { kind: this.#ensuring === null ? 'untried' : 'trying' };
  }

  onStanding(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #stands(loss: string | null): void {
    this.#loss = loss;
    for (const tell of this.#listeners) tell();
  }

  /** What is said of one that may hang, with the process to look at. */
  #hanging(because: string): string {
    const isNamed = this.#options.link.isMute && this.#pid !== null;
    return isNamed ? `${because} It runs as process ${this.#pid}.` : because;
  }

  #attempt(): Promise<Outcome<P['answers']['hello']>> {
    this.#ensuring ??= this.#reach()
      .then(async (answered) => {
        if (answered.ok) this.#pid = answered.value.pid;
        const reached = answered.ok ? answered : refused(await this.#withHung(answered.refusal));
        this.#stands(reached.ok ? null : reached.refusal.reason);
        return reached;
      })
      .finally(() => {
        this.#ensuring = null;
        if (!this.#kept) this.#options.link.close(); // It was let go while it was looked for.
      });
    return this.#ensuring;
  }

  /** One that hangs lets no other in: it is ended where that costs nobody anything, or a person is told which it is. */
  async #withHung(refusal: Refusal): Promise<Refusal> {
    const { hung } = this.#options;
    const one = this.#hangs ? await hung.find() : null;
    this.#pid = one?.pid ?? this.#pid;
    if (one === null || hung.end === undefined) return { ...refusal, reason: this.#hanging(refusal.reason) };
    hung.end(one);
    return { ...refusal, reason: `${refusal.reason} Process ${one.pid} hung and is ended; another is started.` };
  }

  async #reach(): Promise<Outcome<P['answers']['hello']>> {
    const { link, replace } = this.#options;
    const reached = await this.#reachAny();
    if (!reached.ok || replace === undefined || (await replace(reached.value)) === 'stays') return reached;
    for (let attempt = 0; attempt < ELSEWHERE.times && link.hello !== null; attempt++) await this.#pause();
    link.close();
    return this.#reachAny();
  }

  async #reachAny(): Promise<Outcome<P['answers']['hello']>> {
    const { link, launch, codes, timers } = this.#options;
    this.#hangs = false;
    const running = await link.connect();
    if (running.ok || running.refusal.code !== codes.unreachable) return running;
    // While one hangs no other would be let in.
    const started = link.isMute ? null : await startHelper(launch, timers);
    if (started?.ok) return link.connect();
    if (started !== null && started.refusal.code !== codes.alreadyRunning) return started;
    for (let attempt = 0, mute = 0; attempt < ELSEWHERE.times && mute < MUTE_TIMES; attempt++) {
      const elsewhere = await link.connect();
      if (elsewhere.ok || elsewhere.refusal.code !== codes.unreachable) return elsewhere;
      if (link.isMute) mute += 1;
      this.#hangs = mute === MUTE_TIMES;
      await this.#pause();
    }
    return running;
  }

  #pause(ms = ELSEWHERE.everyMs): Promise<void> {
    return new Promise((resolve) => void this.#options.timers.after(ms, resolve));
  }

  /** An attempt may have been at its end already when the link went down. */
  async #revive(): Promise<void> {
    if (this.#reviving) return;
    this.#reviving = true;
    for (let waitMs = RECONNECT_MS.first; this.#kept; waitMs = Math.min(waitMs * 2, RECONNECT_MS.most)) {
      await this.#attempt();
      if (this.#options.link.hello !== null) break;
      await this.#pause(waitMs);
    }
    this.#reviving = false;
  }
}

/** The hello with whether it runs other bytes than are installed now. */
export const withOutdated = <H extends HelperHello>(
  reached: Outcome<H>,
  build: string,
): Outcome<H & { readonly outdated: boolean }> =>
  reached.ok ? ok({ ...reached.value, outdated: reached.value.build !== build }) : reached;
