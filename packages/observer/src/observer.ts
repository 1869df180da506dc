import {
  type Clock,
  type Digest,
  type Header,
  type Outcome,
  type Refusal,
  refusal,
  type Timers,
  type VerificationKey,
  verificationKey,
} from '@idunn/kernel';
import {
  type Correlated,
  correlate,
  type IncarnationKey,
  type IncarnationRecord,
  isFresh,
  livingActivations,
  NO_TRAIL,
  type ObserverRequest,
  type PresenceTrail,
  type PublicationChange,
  type Standing,
  type VerifiedPresence,
  verifyPresence,
} from '@idunn/readiness';
import type { Book } from './book/book.ts';
import type { Trails } from './book/trails.ts';
import { REFRESH_MS } from './limits.ts';
import { pages } from './voice/pages.ts';
import type { SignedLine, Voice } from './voice/voice.ts';

/** A current activation and what was heard of it. */
interface Heard {
  readonly key: IncarnationKey;
  readonly activation: string;
  readonly activationKey: VerificationKey;
  readonly signer: VerificationKey;
  trail: PresenceTrail;
  newest: (VerifiedPresence & { readonly receivedAtMs: number }) | null;
  /** The last word that was pushed about it. */
  told: Correlated | null;
  ready: { readonly receipt: Digest; readonly epoch: number | null; readonly presenceSequence: number } | null;
  staleTimer: (() => void) | null;
}

/** A presence that came over one connection; `answer` is a hint for the sender. */
export interface Incoming {
  readonly envelope: unknown;
  /** The activation that it claims to speak for; nothing is believed of it yet. */
  readonly claimed: string;
  readonly sequence: number;
  readonly receivedAtMs: number;
  answer(refused: Refusal | null): void;
}

export interface ObserverPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly audience: Header['audience'];
  readonly book: Book;
  readonly trails: Trails;
  readonly voice: Voice;
  /** Pushes lines on every link, those of one call together. */
  tell(...lines: readonly SignedLine[]): void;
  log(text: string): void;
  /** A store refused a write: the program ends, loudly, and its next run reads what is really there (F28). */
  fail(cause: unknown): void;
}

export interface Observer {
  /** Hears a presence; `unknown-activation` when none such is current: the connection keeps the newest for later. */
  hear(incoming: Incoming): 'heard' | 'unknown-activation';
  /** Carries out a verified request of the authority; the signed answer comes when it is durable. */
  instruct(request: ObserverRequest, header: Header, answer: (line: SignedLine) => void): void;
  /** Everything that it holds, as signed lines. */
  roster(): readonly SignedLine[];
  /** Calls `listener` when an activation has become current, so that presences that came before it are heard now. */
  onActivated(listener: (activation: string) => void): void;
  stop(): void;
}

/** Correlates what the authority published with what the workloads say, and tells every change at once. */
export function createObserver(ports: ObserverPorts): Observer {
  const { clock, timers, audience, book, trails, voice } = ports;
  const byActivation = new Map<string, Heard>();
  const byKey = new Map<IncarnationKey, Heard>();
  /** The newest words of activations that were replaced. */
  const parked = new Map<string, Heard['newest']>();
  const refreshed = new Set<IncarnationKey>();
  let cancelRefresh: (() => void) | null = null;
  let activated: (activation: string) => void = () => undefined;

  for (const [key, record] of book.incarnations()) attend(key, record);

  /** Takes up the current activation of an incarnation, or drops what was current. */
  function attend(key: IncarnationKey, record: IncarnationRecord | null): void {
    const before = byKey.get(key);
    const current = record?.current ?? null;
    const signer = record === null ? undefined : signerOf(record);
    const same = current?.activation.activation === before?.activation;
    if (before !== undefined && same && signer?.keyId === before.signer.keyId) return;
    if (before !== undefined) drop(before, same);
    if (record === null || current === null) return;
    // An activation of another boot is void: its process is gone, and so is its trail (I5).
    if (current.observed.identity.bootId !== clock.bootId) return;
    if (signer === undefined) return ports.log(`${key}: its signer ${record.expected.signer} is no longer enrolled`);
    const { activation, publicKey } = current.activation;
    const heard: Heard = {
      key,
      activation,
      activationKey: verificationKey(publicKey),
      signer: verificationKey(signer.publicKey),
      trail: trails.read(activation) ?? NO_TRAIL,
      newest: parked.get(activation) ?? null,
      told: null,
      ready: null,
      staleTimer: null,
    };
    parked.delete(activation);
    byKey.set(key, heard);
    byActivation.set(activation, heard);
  }

  /** The anchor is keyed by target; Expected names which of its keys vouches for this incarnation. */
  function signerOf({ expected }: IncarnationRecord) {
    return book.anchor(expected.target)?.keys.find(({ keyId }) => keyId === expected.signer);
  }

  /** An activation that made room may return: what it said last waits for it, and its trail stays. */
  function drop(heard: Heard, signerIsGone: boolean): void {
    heard.staleTimer?.();
    byKey.delete(heard.key);
    byActivation.delete(heard.activation);
    refreshed.delete(heard.key);
    if (signerIsGone) refresh(heard.key);
    else if (heard.newest !== null) parked.set(heard.activation, heard.newest);
  }

  /** The activations that can never be current again take their trails with them. */
  function forget(key: IncarnationKey, livingBefore: readonly string[]): void {
    const living = livingActivations(book.incarnation(key));
    for (const activation of livingBefore) {
      if (living.includes(activation)) continue;
      parked.delete(activation);
      trails.forget(activation);
    }
  }

  /** Correlates one incarnation anew, and pushes what changed. */
  function settle(heard: Heard): void {
    const correlated = correlationOf(heard);
    const { present, disagreements, obstacles } = correlated;
    const before = heard.told;
    heard.told = correlated;
    if (present === null) return;
    const news: SignedLine[] = [];
    const changed = before === null || wordOf(before) !== wordOf(correlated);
    if (changed) {
      refreshed.delete(heard.key);
      news.push(voice.present(heard.key, present, disagreements));
    } else {
      refresh(heard.key);
    }
    if (obstacles.length > 0) {
      heard.ready = null;
    } else if (heard.ready === null || heard.ready.epoch !== present.epoch) {
      const { line, receipt } = voice.ready(heard.key, present);
      heard.ready = { receipt, epoch: present.epoch, presenceSequence: present.sequence };
      news.push(line);
    }
    // Statement and receipt together: a handover waits for both.
    if (news.length > 0) ports.tell(...news);
  }

  function correlationOf(heard: Heard): Correlated {
    const record = book.incarnation(heard.key);
    if (record === null) throw new Error(`${heard.key} is attended without a record`);
    return correlate({
      key: heard.key,
      expected: record.expected,
      activation: record.current?.activation ?? null,
      observed: record.current?.observed ?? null,
      presence: heard.newest,
      nowMs: clock.monotonicMs(),
    });
  }

  /** What changed nothing is told together with others, so that an idle fleet costs next to nothing. */
  function refresh(key: IncarnationKey): void {
    refreshed.add(key);
    cancelRefresh ??= timers.after(REFRESH_MS, () => {
      cancelRefresh = null;
      const standings = [...refreshed].map(standingOf);
      refreshed.clear();
      for (const page of pages(standings)) ports.tell(voice.batch('refresh', page));
    });
  }

  /** One timer for each activation, set anew only when it fires: no presence moves it, nobody scans. */
  function watchFreshness(heard: Heard): void {
    if (heard.staleTimer !== null || heard.newest === null) return;
    const freshnessMs = book.incarnation(heard.key)?.expected.health.freshnessMs ?? 0;
    const ageMs = clock.monotonicMs() - heard.newest.receivedAtMs;
    if (!isFresh(ageMs, freshnessMs)) return;
    heard.staleTimer = timers.after(Math.floor(freshnessMs - ageMs) + 1, () => {
      heard.staleTimer = null;
      if (heard.told?.present?.fresh === true && !correlationOf(heard).present?.fresh) settle(heard);
      else watchFreshness(heard);
    });
  }

  function standingOf(key: IncarnationKey): Standing {
    const heard = byKey.get(key);
    const present = heard?.told?.present ?? null;
    return {
      incarnation: key,
      activation: heard?.activation ?? null,
      present:
        present === null
          ? null
          : {
              state: present.state,
              epoch: present.epoch,
              presenceSequence: present.sequence,
              presence: present.digest,
              fresh: present.fresh,
            },
      ready: heard?.ready ?? null,
      disagreements: (heard?.told?.disagreements ?? []).map(({ code, detail }) => ({ code, detail })),
    };
  }

  function accepted(incoming: Incoming, heard: Heard): Outcome<VerifiedPresence> {
    const { envelope } = incoming;
    const activation = { activation: heard.activation, key: heard.activationKey };
    return verifyPresence({ envelope, activation, signer: heard.signer, audience, trail: heard.trail });
  }

  /** The incarnations that a change bears on. */
  function keysOf(change: PublicationChange): readonly IncarnationKey[] {
    switch (change.kind) {
      case 'incarnation':
        return [change.key];
      case 'anchor':
        return [...book.incarnations()]
          .filter(([, { expected }]) => expected.target === change.target)
          .map(([key]) => key);
      case 'none':
        return [];
    }
  }

  const isActivated = (key: IncarnationKey): boolean => (book.incarnation(key)?.current ?? null) !== null;

  async function conclude(durable: Promise<void>, then: () => void): Promise<void> {
    try {
      await durable;
      then();
    } catch (cause) {
      ports.fail(cause);
    }
  }

  function takeUp(key: IncarnationKey): void {
    attend(key, book.incarnation(key));
    const heard = byKey.get(key);
    if (heard === undefined) return;
    if (heard.newest !== null) settle(heard);
    watchFreshness(heard);
    activated(heard.activation);
  }

  return {
    hear(incoming) {
      const heard = byActivation.get(incoming.claimed);
      if (heard === undefined) return 'unknown-activation';
      const verified = accepted(incoming, heard);
      if (!verified.ok) {
        ports.log(`a presence for ${heard.key} was refused: ${verified.refusal.reason}`);
        incoming.answer(verified.refusal);
        return 'heard';
      }
      try {
        trails.write(heard.activation, verified.value.trail);
      } catch (cause) {
        ports.fail(cause);
        return 'heard';
      }
      heard.trail = verified.value.trail;
      heard.newest = { ...verified.value, receivedAtMs: incoming.receivedAtMs };
      settle(heard);
      watchFreshness(heard);
      incoming.answer(null);
      return 'heard';
    },

    instruct(request, header, answer) {
      const reply = (refused: Refusal | null) => answer(voice.ack(header.requestId, header.subject, refused));
      if (header.sequence <= book.requestSequence) {
        const reason = `Request ${header.sequence} came after ${book.requestSequence}.`;
        return reply(refusal('request-replayed', reason));
      }
      const about = incarnationOf(request);
      const livingBefore = about === null ? [] : livingActivations(book.incarnation(about));
      const { outcome, durable } = book.carryOut(request, header.sequence);
      const touched = outcome.ok ? keysOf(outcome.value) : [];
      // Taken away at once, given only once it is durable.
      for (const key of touched) if (!isActivated(key)) attend(key, null);
      void conclude(durable, () => {
        reply(outcome.ok ? null : outcome.refusal);
        touched.forEach(takeUp);
        if (about !== null) forget(about, livingBefore);
      });
    },

    roster() {
      const standings = [...book.incarnations()].map(([key]) => standingOf(key));
      const all = pages(standings);
      const last = all.pop() ?? [];
      return [...all.map((page) => voice.batch('roster', page)), voice.batch('roster-end', last)];
    },

    onActivated(listener) {
      activated = listener;
    },

    stop() {
      cancelRefresh?.();
      for (const heard of byKey.values()) heard.staleTimer?.();
    },
  };
}

/** What a change is measured by: all that was said but which presence said it. */
const wordOf = ({ present, disagreements }: Correlated): string =>
  JSON.stringify([present?.activation, present?.state, present?.epoch, present?.fresh, disagreements]);

function incarnationOf(request: ObserverRequest): IncarnationKey | null {
  switch (request.kind) {
    case 'anchor':
      return null;
    case 'publish-activation':
      return request.activation.incarnation;
    case 'publish-expected':
    case 'demote':
    case 'withdraw':
      return request.incarnation;
  }
}
