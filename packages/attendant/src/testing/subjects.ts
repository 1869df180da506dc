import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type AttendedContract, type Envelope, readActivation } from '@idunn/workload/attending';
import { ACTIVATION, FakeMachine, makeActivation, payloadOf } from '@idunn/workload/testing';
import { Coalescer } from '../coalescer.ts';
import type { Listener } from '../edge/listener.ts';
import { bad, type Finding, good } from '../model/reading.ts';
import type { AttendedRecord } from '../model/record.ts';
import { Subject } from '../subject.ts';

export const CONTRACT = {
  probe: { kind: 'http', method: 'GET', path: '/', statuses: [200], body: null },
  intervalMs: 1_000,
  timeoutMs: 500,
  successes: 1,
  failures: 3,
} as const;

export interface Setting {
  readonly stateful?: boolean;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly contract?: Partial<Omit<AttendedContract, 'probe' | 'capabilities'>>;
  readonly record?: Partial<AttendedRecord>;
  readonly presenceEveryMs?: number;
}

/** Field 22 of /proc/PID/stat of this very process. */
export const ownStartTime = (): string => {
  const line = readFileSync('/proc/self/stat', 'latin1');
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '';
};

export function activationDirectory(t: TestContext, { stateful, secrets, contract, presenceEveryMs }: Setting): string {
  const directory = mkdtempSync(join(tmpdir(), 'idunn-att-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return makeActivation(directory, {
    stores: stateful === true ? [{ id: 'db', kind: 'sqlite', path: join(directory, 'app.db') }] : null,
    port: 21_999,
    attended: { ...CONTRACT, ...contract },
    ...(secrets === undefined ? {} : { secrets }),
    ...(presenceEveryMs === undefined ? {} : { presenceEveryMs }),
  });
}

/** One attended program on virtual time; what its probes find is the test's to say. */
export class Stage {
  readonly machine = new FakeMachine();
  readonly said: { state: string; epoch: number | null; detail: string; sequence: number; atMs: number }[] = [];
  readonly verdicts: string[] = [];
  readonly subject: Subject;
  gone = 0;
  probes = 0;
  listener: Listener = { kind: 'own' };
  finds: Finding = good('GET / answered 200');

  constructor(t: TestContext, setting: Setting = {}) {
    const directory = activationDirectory(t, setting);
    const activation = readActivation(directory, ACTIVATION);
    const { attended } = activation.launch;
    if (attended === null) throw new Error('it is attended');
    const record: AttendedRecord = {
      activation: ACTIVATION,
      directory,
      pid: process.pid,
      startTime: ownStartTime(),
      epoch: null,
      verdict: 'unproven',
      ...setting.record,
    };
    this.subject = new Subject(activation, attended, record, {
      machine: this.machine,
      turn: () => {
        this.probes += 1;
        return Promise.resolve(this.finds);
      },
      listener: () => Promise.resolve(this.listener),
      coalescer: new Coalescer(this.machine),
      spoke: (_, envelope) => this.#hear(envelope),
      verdict: ({ record: now }) => {
        this.verdicts.push(now.verdict);
        return Promise.resolve();
      },
      gone: () => {
        this.gone += 1;
      },
      log: () => undefined,
    });
  }

  goesBad(said = 'GET / answered 503', body: string | null = 'no database'): void {
    this.finds = bad(said, { status: 503, body });
  }

  /** Lets time pass in steps of the interval; what a probe found is taken in between. */
  async pass(spanMs: number, stepMs = 10): Promise<void> {
    for (let passed = 0; passed < spanMs; passed += stepMs) {
      this.machine.pass(stepMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get states(): string {
    return this.said.map(({ state, epoch }) => (epoch === null ? state : `${state}@${epoch}`)).join(' ');
  }

  #hear(envelope: Envelope): void {
    const { state, epoch, detail, header } = payloadOf(envelope) as {
      state: string;
      epoch: number | null;
      detail: string;
      header: { sequence: number };
    };
    this.said.push({ state, epoch, detail, sequence: header.sequence, atMs: this.machine.now });
  }
}
