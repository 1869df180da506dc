import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Fields, isFields } from './fields.ts';
import { type Event, type Kept, Objects } from './objects.ts';
import { type Matched, OpenApi } from './openapi.ts';
import { type Answer, answer, status } from './status.ts';

/** The self-signed certificate that all test servers share; its key is public, so it proves nothing. */
const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../release/src/testing/fixtures/localhost.${name}.pem`, import.meta.url), 'utf8');

const TOKEN = 'the-token-of-the-test';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** What a test does to one request: another answer, or the connection cut before or after it was carried out. */
export type Meddling = (request: Request) => Answer | 'cut-before' | 'cut-after' | null;

/**
 * An API server of its own, over HTTPS on loopback. Every request and every answer is held against Kubernetes'
 * published description; what does not fit is refused and remembered in `faults`.
 */
export class ApiServer {
  readonly cluster = new Objects();
  readonly faults: string[] = [];
  readonly requests: string[] = [];
  meddle: Meddling = () => null;
  /** Events before this version are forgotten: a watch from there is answered with 410. */
  oldestVersion = 0;
  /** Continuations of a listing are let go before they are used. */
  expireContinuations = 0;
  readonly #api = new OpenApi();
  readonly #server = createServer(
    { cert: fixture('cert'), key: fixture('key') },
    (request, response) => void this.#serve(request, response),
  );
  readonly #watches = new Set<{ readonly hears: (event: Event) => boolean; readonly response: ServerResponse }>();

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const told = this.cluster.changed;
    this.cluster.changed = (event) => {
      told(event);
      for (const { hears, response } of this.#watches) if (hears(event)) this.#event(response, event);
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Ends every watch, as a server does after some minutes. */
  closeWatches(): void {
    for (const { response } of this.#watches) response.end();
  }

  get watching(): number {
    return this.#watches.size;
  }

  kubeconfig(token = TOKEN): string {
    const { port } = this.#server.address() as AddressInfo;
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'test',
          cluster: {
            server: `https://localhost:${port}`,
            'certificate-authority-data': Buffer.from(fixture('cert')).toString('base64'),
          },
        },
      ],
      users: [{ name: 'test', user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    });
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const request: Request = { method: incoming.method ?? 'GET', path: url.pathname, query: url.searchParams, body };
    this.requests.push(`${request.method} ${request.path}`);
    if (incoming.headers.authorization !== `Bearer ${TOKEN}`)
      return send(response, status(401, 'Unauthorized', 'Unauthorized'));
    const meddled = this.meddle(request);
    if (meddled === 'cut-before') return void response.destroy();
    if (meddled !== null && meddled !== 'cut-after') return send(response, meddled);
    const matched = this.#api.match(request.path);
    if (matched === null)
      return send(response, status(404, 'NotFound', 'the server could not find the requested resource'));
    const faults = this.#api.requestFaults(matched, { ...request, type: incoming.headers['content-type'] });
    if (faults.length > 0) {
      this.faults.push(...faults.map((fault) => `${request.method} ${request.path}: ${fault}`));
      return send(response, status(400, 'BadRequest', faults.join('; ')));
    }
    if (request.query.get('watch') === 'true') return this.#watch(matched, request, response);
    const made = this.#answer(matched, request, incoming.headers['content-type']);
    this.faults.push(
      ...this.#api
        .answerFaults(matched, request.method, made.status, made.body)
        .map((fault) => `answer to ${request.method} ${request.path}: ${fault}`),
    );
    if (meddled === 'cut-after') return void response.destroy();
    send(response, made);
  }

  #answer(matched: Matched, { method, path, query, body }: Request, type: string | undefined): Answer {
    const discovered = this.#discovery(matched);
    if (discovered !== null) return discovered;
    const resource = this.#api.resources().find(({ template }) => template === matched.template);
    if (resource === undefined) return this.#list(path, query);
    if (method === 'GET') {
      const object = this.cluster.objects.get(path);
      return object === undefined ? status(404, 'NotFound', `${path} is not found`) : answer(200, object);
    }
    if (method === 'DELETE') {
      const { preconditions } = (body ?? {}) as { preconditions?: { uid?: string; resourceVersion?: string } };
      return this.cluster.remove(path, preconditions);
    }
    if (!isFields(body)) return status(400, 'BadRequest', 'the body is no object');
    const manager = query.get('fieldManager') ?? '';
    if (type === 'application/merge-patch+json') return this.cluster.mergePatch(path, body, manager);
    if (manager === '')
      return status(400, 'BadRequest', 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value');
    if (query.get('fieldValidation') === 'Strict') {
      const unknown = this.#api.faults(resource.definition, body, false);
      if (unknown.length > 0) return status(400, 'BadRequest', `strict decoding error: ${unknown.join('; ')}`);
    }
    const dryRun = query.get('dryRun') === 'All';
    return this.cluster.apply(path, body, { manager, force: query.get('force') === 'true', dryRun });
  }

  #discovery({ template }: Matched): Answer | null {
    const [, group = '', version = ''] = /^\/(?:api|apis\/([^/{]+))\/([^/{]+)\/$/.exec(template) ?? [];
    if (version === '') return null;
    const resources = this.#api
      .resources()
      .filter((one) => one.group === group && one.version === version)
      .map(({ template: path, kind }) => {
        const name = path.split('/').at(-2) ?? '';
        const namespaced = path.includes('{namespace}');
        return { name, kind, namespaced, singularName: kind.toLowerCase(), verbs: ['get', 'list', 'patch', 'watch'] };
      });
    const groupVersion = group === '' ? version : `${group}/${version}`;
    return answer(200, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources });
  }

  #list(path: string, query: URLSearchParams): Answer {
    const all = this.#inside(path, query);
    const limit = Number(query.get('limit') ?? all.length);
    const token = query.get('continue');
    if (token !== null && this.expireContinuations > 0) {
      this.expireContinuations -= 1;
      return status(410, 'Expired', 'The provided continue parameter is too old');
    }
    const from = token === null ? 0 : Number(token);
    const items = all.slice(from, from + limit);
    const rest = from + limit < all.length ? { continue: String(from + limit) } : {};
    const sample = items[0];
    return answer(200, {
      kind: sample === undefined ? 'List' : `${sample.kind}List`,
      apiVersion: sample?.apiVersion ?? 'v1',
      metadata: { resourceVersion: String(this.cluster.version), ...rest },
      items,
    });
  }

  #inside(path: string, query: URLSearchParams): readonly Kept[] {
    return [...this.cluster.objects]
      .filter(([at, object]) => covers(path, at) && selected(object, query))
      .map(([, object]) => object);
  }

  #watch(_: Matched, { path, query }: Request, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion') ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const hears = (event: Event): boolean =>
      event.version > from && covers(path, event.path) && selected(event.object, query);
    if (from < this.oldestVersion) {
      response.end(
        `${JSON.stringify({ type: 'ERROR', object: status(410, 'Expired', 'too old resource version').body })}\n`,
      );
      return;
    }
    for (const event of this.cluster.history.filter(hears)) this.#event(response, event);
    const watch = { hears, response };
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
  }

  #event(response: ServerResponse, { type, object }: Event): void {
    response.write(`${JSON.stringify({ type, object })}\n`);
  }
}

/** Whether an object's path lies in a collection's, in one namespace or in all of them. */
function covers(collection: string, path: string): boolean {
  if (path.startsWith(`${collection}/`) && !path.slice(collection.length + 1).includes('/')) return true;
  const parts = collection.split('/');
  const plural = parts.pop() ?? '';
  const across = new RegExp(`^${parts.join('/').replaceAll('.', '\\.')}/namespaces/[^/]+/${plural}/[^/]+$`);
  return across.test(path);
}

function selected({ metadata }: Kept, query: URLSearchParams): boolean {
  const field = query.get('fieldSelector');
  if (field !== null && field !== `metadata.name=${metadata.name}`) return false;
  const labels = query.get('labelSelector')?.split(',') ?? [];
  return labels.every((pair) => {
    const [name = '', value] = pair.split('=');
    return metadata.labels?.[name] === value;
  });
}

function send(response: ServerResponse, { status: code, body }: Answer): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

export type { Fields };
