import type { Answer } from './answer.ts';
import type { AuthorizationAnswer, Authorizations } from './schemas/authorization.ts';
import type { BuildAnswer, ExportedBuild } from './schemas/build.ts';
import type { AuthorizationRequest, CommandRequest } from './schemas/command.ts';
import type { Doctor, FleetAnswer, Inspect, KeyAnswer, Keys, LogLines, Version } from './schemas/daemon.ts';
import type { History } from './schemas/history.ts';
import type { Incidents } from './schemas/incidents.ts';
import type { PlanAnswer } from './schemas/plan.ts';
import type { Verify } from './schemas/sealed.ts';
import type { Status } from './schemas/status.ts';
import type { OperationReceiptAnswer, TransactionAnswer } from './schemas/transaction.ts';
import { type Followed, type FollowRequest, follow } from './transport/follow.ts';
import { askJson, askText, open } from './transport/request.ts';

/** The daemon's API. Every answer is a value or a refusal; nothing here throws for what a person can meet. */
export interface Client {
  readonly socket: string;
  version(): Promise<Answer<Version>>;
  fleet(): Promise<Answer<FleetAnswer>>;
  status(): Promise<Answer<Status>>;
  plan(target: string, ref: string | null): Promise<Answer<PlanAnswer>>;
  command(request: CommandRequest): Promise<Answer<OperationReceiptAnswer>>;
  transaction(id: string): Promise<Answer<TransactionAnswer>>;
  history(options: { subject?: string; limit?: number }): Promise<Answer<History>>;
  logs(target: string, options: { lines?: number; activation?: string }): Promise<Answer<LogLines>>;
  /** Lines as they are written, until `signal` aborts or the log ends. */
  followLogs(target: string, options: { lines?: number; signal: AbortSignal }): Promise<Answer<AsyncIterable<string>>>;
  events(request: Omit<FollowRequest, 'socket'>): AsyncGenerator<Followed>;
  inspect(id: string): Promise<Answer<Inspect>>;
  /** Re-checks what is admitted from its bytes; with `source`, from the commit on. Takes as long as reading them. */
  verify(target: string, options: { source: boolean }): Promise<Answer<Verify>>;
  /** Those that are open, and with `all` those that are over. */
  incidents(options?: { subject?: string; all?: boolean }): Promise<Answer<Incidents>>;
  doctor(): Promise<Answer<Doctor>>;
  keys(): Promise<Answer<Keys>>;
  createKey(target: string): Promise<Answer<KeyAnswer>>;
  authorizations(target: string): Promise<Answer<Authorizations>>;
  /** Submits a signed release authorization, a DSSE envelope. */
  authorize(target: string, envelope: AuthorizationRequest['envelope']): Promise<Answer<AuthorizationAnswer>>;
  /** A build that is sealed in the fleet or was taken in. */
  build(build: string): Promise<Answer<BuildAnswer>>;
  exportBuild(build: string): Promise<Answer<ExportedBuild>>;
  takeBuild(target: string, directory: string): Promise<Answer<BuildAnswer>>;
  /** Prometheus text. */
  metrics(): Promise<Answer<string>>;
}

/** A client of the daemon that listens on `socket`. Opens nothing until it is asked something. */
export function createClient(socket: string): Client {
  const get = <T>(path: string): Promise<Answer<T>> => askJson<T>({ socket, method: 'GET', path });
  const post = <T>(path: string, body: unknown): Promise<Answer<T>> =>
    askJson<T>({ socket, method: 'POST', path, body });
  return {
    socket,
    version: () => get('/v1/version'),
    fleet: () => get('/v1/fleet'),
    status: () => get('/v1/status'),
    plan: (target, ref) => post('/v1/plan', { target, ref }),
    command: (request) => post('/v1/commands', request),
    transaction: (id) => get(`/v1/transactions/${encodeURIComponent(id)}`),
    history: (options) => get(`/v1/history${query(options)}`),
    logs: (target, options) => get(`/v1/targets/${encodeURIComponent(target)}/logs${query(options)}`),
    followLogs: (target, options) => followLogs(socket, target, options),
    events: (request) => follow({ ...request, socket }),
    inspect: (id) => get(`/v1/inspect/${encodeURIComponent(id)}`),
    verify: (target, { source }) => get(`/v1/verify/${encodeURIComponent(target)}?source=${source}`),
    incidents: (options = {}) => get(`/v1/incidents${query(options)}`),
    doctor: () => get('/v1/doctor'),
    keys: () => get('/v1/keys'),
    createKey: (target) => post('/v1/keys', { target }),
    authorizations: (target) => get(`/v1/targets/${encodeURIComponent(target)}/authorizations`),
    authorize: (target, envelope) => post('/v1/authorizations', { target, envelope }),
    build: (build) => get(`/v1/builds/${encodeURIComponent(build)}`),
    exportBuild: (build) => post(`/v1/builds/${encodeURIComponent(build)}/export`, {}),
    takeBuild: (target, directory) => post('/v1/builds', { target, directory }),
    metrics: () => askText({ socket, method: 'GET', path: '/metrics' }),
  };
}

function query(options: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const words = Object.entries(options).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return words.length === 0 ? '' : `?${new URLSearchParams(words).toString()}`;
}

async function followLogs(
  socket: string,
  target: string,
  { lines, signal }: { lines?: number; signal: AbortSignal },
): Promise<Answer<AsyncIterable<string>>> {
  const path = `/v1/targets/${encodeURIComponent(target)}/logs/follow${query({ lines })}`;
  const opened = await open({ socket, method: 'GET', path, signal });
  if (!opened.ok) return opened;
  if (opened.value.statusCode === 200) return { ok: true, value: linesOf(opened.value, signal) };
  let text = '';
  opened.value.setEncoding('utf8');
  for await (const chunk of opened.value as AsyncIterable<string>) text += chunk;
  return {
    ok: false,
    refusal: (JSON.parse(text) as { refusal: Extract<Answer<never>, { ok: false }>['refusal'] }).refusal,
  };
}

async function* linesOf(chunks: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of chunks) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
