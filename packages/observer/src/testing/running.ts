import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Envelope, type SigningKey, signEnvelope } from '@idunn/kernel';
import { LINK_SCHEMAS, type ObserverRequest } from '@idunn/readiness';
import { audience, authorityKey, type SampleWorkload, sampleLaunch } from '@idunn/readiness/testing';

const MAIN = new URL('../main.ts', import.meta.url).pathname;

/** The directories of one fleet's observer, and a fresh activation directory for each launch. */
export class Home {
  readonly root = mkdtempSync(join(tmpdir(), 'idunn-observer-'));
  readonly store = join(this.root, 'state');
  readonly sockets = join(this.root, 'run');
  readonly presence = join(this.sockets, 'presence.sock');
  readonly link = join(this.sockets, 'link.sock');
  #launches = 0;

  activationDirectory(observer: SampleWorkload): string {
    const directory = join(this.root, `a${++this.#launches}`);
    mkdirSync(directory, { mode: 0o700 });
    const put = (name: string, text: string) => writeFileSync(join(directory, name), text, { mode: 0o600 });
    put('launch.json', sampleLaunch(observer));
    put('activation.key', `${observer.seeds.activation}\n`);
    put('signer.key', `${observer.seeds.signer}\n`);
    return directory;
  }
}

/** A started observer process. */
export class RunningObserver {
  readonly process: ChildProcess;
  readonly directory: string;
  readonly #lines: string[] = [];
  #heard: () => void = () => undefined;

  /** `spoil` may damage the activation directory before the start; `program` is another build of the observer. */
  constructor(
    home: Home,
    observer: SampleWorkload,
    spoil: (directory: string) => void = () => undefined,
    program: readonly string[] = ['--conditions=source', MAIN],
  ) {
    this.directory = home.activationDirectory(observer);
    spoil(this.directory);
    this.process = spawn(process.execPath, [...program, '--store', home.store, '--sockets', home.sockets], {
      env: { IDUNN_ACTIVATION_DIRECTORY: this.directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (line) => {
        this.#lines.push(line);
        this.#heard();
      });
    }
    this.process.on('exit', () => this.#heard());
  }

  /** Waits for a line of its log. */
  async logs(text: string): Promise<void> {
    while (!this.#lines.some((line) => line.includes(text))) {
      if (this.process.exitCode !== null) throw new Error(`the observer ended: ${this.#lines.join('\n')}`);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  /** Its exit code; `null` when a signal ended it. */
  async ended(): Promise<number | null> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
    return this.process.exitCode;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.process.kill(signal);
    return this.ended();
  }
}

export type Line = { readonly type: string; readonly [field: string]: unknown } & { readonly envelope?: Envelope };

/** One connection to a socket, line by line. */
export class Wire {
  readonly socket: Socket;
  readonly #lines: Line[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    createInterface(socket).on('line', (line) => {
      this.#lines.push(JSON.parse(line) as Line);
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  static async open(path: string): Promise<Wire> {
    const socket = connect(path);
    await once(socket, 'connect');
    return new Wire(socket);
  }

  send(type: string, envelope: unknown): void {
    this.socket.write(`${JSON.stringify({ type, envelope })}\n`);
  }

  /** The next line of one of these types; lines of other types before it are skipped. */
  async next(...types: readonly string[]): Promise<Line> {
    for (;;) {
      while (this.#lines.length > 0) {
        const line = this.#lines.shift();
        if (line !== undefined && types.includes(line.type)) return line;
      }
      if (this.#ended) throw new Error('the connection ended');
      await this.#moved();
    }
  }

  async ended(): Promise<void> {
    while (!this.#ended) await this.#moved();
  }

  #moved(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

export const payloadOf = (line: Line): Record<string, unknown> =>
  JSON.parse(Buffer.from(line.envelope?.payload ?? '', 'base64').toString()) as Record<string, unknown>;

/** The daemon's side of the link, by hand. */
export class Daemon {
  readonly wire: Wire;
  #sequence = 0;

  private constructor(wire: Wire) {
    this.wire = wire;
  }

  static async link(home: Home): Promise<Daemon> {
    const daemon = new Daemon(await Wire.open(home.link));
    const challenge = 'ab'.repeat(32);
    daemon.wire.send('hello', daemon.signed(LINK_SCHEMAS.hello, 0, { challenge }));
    const welcome = payloadOf(await daemon.wire.next('welcome'));
    if (welcome['challenge'] !== challenge) throw new Error('the welcome answers another challenge');
    daemon.#sequence = Number(welcome['requestSequence']);
    return daemon;
  }

  signed(schema: string, sequence: number, body: object, key: SigningKey = authorityKey): Envelope {
    const issuer = key.keyId;
    const header = { schema, issuer, audience, subject: audience.fleet, requestId: `daemon-${sequence}`, sequence };
    return signEnvelope({ header, ...body }, [key]);
  }

  /** The code of the refusal, or `null`. */
  async request(request: ObserverRequest): Promise<string | null> {
    this.wire.send('request', this.signed(LINK_SCHEMAS.request, ++this.#sequence, { request }));
    const { refusal } = payloadOf(await this.wire.next('ack')) as { refusal: { code: string } | null };
    return refusal?.code ?? null;
  }

  async publishExpected({ target, anchor, key, expected }: SampleWorkload): Promise<void> {
    await this.must({ kind: 'anchor', target, keys: [anchor] });
    await this.must({ kind: 'publish-expected', incarnation: key, expected });
  }

  async publish(workload: SampleWorkload): Promise<void> {
    await this.publishExpected(workload);
    const { activation, observed } = workload;
    await this.must({ kind: 'publish-activation', activation, observed });
  }

  async must(request: ObserverRequest): Promise<void> {
    const code = await this.request(request);
    if (code !== null) throw new Error(`${request.kind}: ${code}`);
  }
}
