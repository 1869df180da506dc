import type { EngineApi, EngineEvent, IncidentEvent } from '@idunn/authority';
import { type Outcome, ok, type Timers } from '@idunn/kernel';
import type { NotifierFile } from '@idunn/release';
import { type Notice, Notifier } from './notifier.ts';
import { readToken } from './secret-file.ts';
import { readSigningKey } from './signing.ts';
import { type WayMeans, wayOf } from './ways.ts';

export interface Notifiers {
  hear(event: EngineEvent): void;
  /** Tells what was not taken before the last daemon ended. */
  start(): void;
  stop(): void;
}

/** What each webhook is signed with, and asked with, is at hand: nothing is ever sent without it. */
export async function checkSecrets(files: readonly NotifierFile[], uid: number): Promise<Outcome<'usable'>> {
  for (const { secret_file, token_file } of files) {
    const key = secret_file === undefined ? null : await readSigningKey(secret_file, uid);
    if (key?.ok === false) return key;
    const token = token_file === undefined ? null : await readToken(token_file, uid);
    if (token?.ok === false) return token;
  }
  return ok('usable');
}

/** One opening or closing, however often it is told. */
const idOf = ({ incident, state }: Pick<Notice, 'incident' | 'state'>): string => `${incident}-${state}`;

/**
 * Every notifier of fleet.toml as the daemon found it at its start. An opening or closing counts as told once each has
 * it; a daemon that dies before leaves it to the next one.
 */
export function createNotifiers(parts: {
  readonly fleet: string;
  readonly files: readonly NotifierFile[];
  readonly engine: EngineApi;
  readonly timers: Timers;
  readonly means: WayMeans;
  /** Takes out of a text what was bound as a secret of the target (F30). */
  readonly redact: (target: string, text: string) => Promise<string>;
  readonly log: (text: string) => void;
}): Notifiers {
  const { fleet, files, engine, timers, means, redact, log } = parts;
  /** Of each notice that not every way has: those that do not. */
  const waiting = new Map<string, Set<string>>();
  const notifiers = files.map((file) => {
    const taken = ({ incident, state }: Notice): void => {
      const rest = waiting.get(idOf({ incident, state }));
      rest?.delete(file.id);
      if (rest?.size !== 0) return;
      waiting.delete(idOf({ incident, state }));
      engine.noteTold(incident, state);
    };
    return { file, notifier: new Notifier(wayOf(file, means), timers, taken, log) };
  });

  async function tell({ at, target, state, incident, code, detail, remedy }: IncidentEvent): Promise<void> {
    const wanted = notifiers.filter(({ file }) => file.codes === undefined || file.codes.includes(code));
    // That an incident is open is told to whoever may be named later; that it is over is then nobody's to know.
    if (wanted.length === 0 && (files.length > 0 || state === 'closed')) return engine.noteTold(incident, state);
    if (wanted.length === 0) return;
    waiting.set(idOf({ incident, state }), new Set(wanted.map(({ file }) => file.id)));
    const clean = await redact(target, detail).catch(() => 'it could not be told');
    const notice = {
      schema: 'idunn.notice/v1',
      fleet,
      at,
      target,
      state,
      incident,
      code,
      detail: clean,
      remedy,
    } as const;
    for (const { notifier } of wanted) {
      const gone = notifier.tell(notice);
      // It counts as told to nobody, and is left to the next daemon.
      if (gone !== null) waiting.delete(idOf(gone));
    }
  }

  /** One after the other: that an incident is over is never told before that it was there. */
  let telling: Promise<void> = Promise.resolve();
  const tellNext = (event: IncidentEvent): void => {
    telling = telling.then(() => tell(event));
  };

  return {
    hear(event) {
      if (event.event === 'incident' && files.length > 0) tellNext(event);
    },
    start() {
      for (const event of engine.untold()) if (!waiting.has(idOf(event))) tellNext(event);
    },
    stop() {
      for (const { notifier } of notifiers) notifier.stop();
    },
  };
}
