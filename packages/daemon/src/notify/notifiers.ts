import type { EngineApi, EngineEvent } from '@idunn/authority';
import { type Outcome, ok, type Timers } from '@idunn/kernel';
import type { NotifierFile } from '@idunn/release';
import { type Notice, Notifier } from './notifier.ts';
import { readSigningKey } from './signing.ts';
import { type WayMeans, wayOf } from './ways.ts';

export interface Notifiers {
  hear(event: EngineEvent): void;
  /** Tells what opened while no daemon ran, or was not taken before the last one ended. */
  start(): void;
  stop(): void;
}

/** Every secret that a webhook is signed with is at hand: nothing is ever sent unsigned in its place. */
export async function checkSecrets(files: readonly NotifierFile[], uid: number): Promise<Outcome<'usable'>> {
  for (const { secret_file } of files) {
    const key = secret_file === undefined ? null : await readSigningKey(secret_file, uid);
    if (key?.ok === false) return key;
  }
  return ok('usable');
}

/** Every notifier of fleet.toml as the daemon found it at its start. An incident counts as told once each has it. */
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
  const open = new Map<string, Set<string>>();
  const notifiers = files.map((file) => {
    const taken = ({ incident, state }: Notice): void => {
      const waiting = open.get(incident);
      waiting?.delete(file.id);
      if (waiting?.size !== 0) return;
      open.delete(incident);
      if (state === 'opened') engine.noteTold(incident);
    };
    return { file, notifier: new Notifier(wayOf(file, means), timers, taken, log) };
  });

  async function tell(notice: Notice): Promise<void> {
    const clean = { ...notice, detail: await redact(notice.target, notice.detail).catch(() => 'it could not be told') };
    const wanted = notifiers.filter(({ file }) => file.codes === undefined || file.codes.includes(notice.code));
    if (notice.state === 'opened') {
      if (wanted.length === 0) return engine.noteTold(notice.incident);
      open.set(notice.incident, new Set(wanted.map(({ file }) => file.id)));
    }
    for (const { notifier } of wanted) notifier.tell(clean);
  }

  return {
    hear(event) {
      if (event.event !== 'incident' || notifiers.length === 0) return;
      const { at, target, state, incident, code, detail, remedy } = event;
      void tell({ schema: 'idunn.notice/v1', fleet, at, target, state, incident, code, detail, remedy });
    },
    start() {
      if (notifiers.length === 0) return;
      for (const { id, told, subject, code, detail, remedy } of engine.incidents()) {
        const about = {
          at: new Date(means.wallMs()).toISOString(),
          target: subject,
          state: 'opened',
          incident: id,
          code,
          detail,
          remedy,
        } as const;
        if (!told) void tell({ schema: 'idunn.notice/v1', fleet, ...about });
      }
    },
    stop() {
      for (const { notifier } of notifiers) notifier.stop();
    },
  };
}
