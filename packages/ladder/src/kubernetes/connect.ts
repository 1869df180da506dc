import { type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { KubeConfig } from '@kubernetes/client-node';
import type { KubeAnswer, KubeApi, KubeRequest } from './api.ts';

export interface ClusterOptions {
  /** A kubeconfig as text. */
  readonly kubeconfig: string;
  /** The context to use; the kubeconfig's own current one when it is left out. */
  readonly context?: string;
  readonly timers: Timers;
  /** How long one answer may take. */
  readonly requestMs?: number;
}

const REQUEST_MS = 30_000;

/**
 * Connects by a kubeconfig. The official client is loaded here and nowhere else: it does the certificates, tokens and
 * credential programs. Its typed models are passed by, because they drop the fields that they do not know.
 */
export async function connectCluster(options: ClusterOptions): Promise<Outcome<KubeApi>> {
  const loaded = await import('@kubernetes/client-node').catch((error: unknown) => String(error));
  if (typeof loaded === 'string') {
    return refused(refusal('cluster-client-missing', `@kubernetes/client-node could not be loaded: ${loaded}.`));
  }
  const { createConfiguration, HttpMethod, KubeConfig: Config, RequestContext, Watch } = loaded;
  const config = new Config();
  const unusable = readConfig(config, options);
  if (unusable !== null) return refused(refusal('kubeconfig-unusable', unusable));
  const server = config.getCurrentCluster()?.server ?? '';
  const { httpApi } = createConfiguration();
  const methods = { GET: HttpMethod.GET, PATCH: HttpMethod.PATCH, DELETE: HttpMethod.DELETE };

  return ok({
    server,
    async request({ method, path, query = {}, body }: KubeRequest): Promise<KubeAnswer> {
      const context = new RequestContext(`${server}${path}`, methods[method]);
      for (const [name, value] of Object.entries(query)) context.setQueryParam(name, value);
      context.setHeaderParam('Accept', 'application/json');
      if (body !== undefined) {
        context.setHeaderParam('Content-Type', body.type);
        context.setBody(JSON.stringify(body.value));
      }
      await config.applySecurityAuthentication(context);
      const abort = new AbortController();
      const withdraw = options.timers.after(options.requestMs ?? REQUEST_MS, () => abort.abort());
      context.setSignal(abort.signal);
      try {
        const answer = await httpApi.send(context).toPromise();
        return { status: answer.httpStatusCode, body: parsed(await answer.body.text()) };
      } finally {
        withdraw();
      }
    },
    async watch(path, query, heard) {
      const { promise: ended, resolve } = Promise.withResolvers<string>();
      const controller = await new Watch(config).watch(path, { ...query }, heard, (error: unknown) =>
        resolve(
          error === null || error === undefined
            ? 'the server closed it'
            : error instanceof Error
              ? error.message
              : 'it broke off',
        ),
      );
      return { ended, stop: () => controller.abort() };
    },
  });
}

/** Why the kubeconfig cannot be used, in a sentence; `null` when it can. */
function readConfig(config: KubeConfig, { kubeconfig, context }: ClusterOptions): string | null {
  try {
    config.loadFromString(kubeconfig);
  } catch (error) {
    return `The kubeconfig cannot be read: ${whyUnreadable(error)}.`;
  }
  const names = config.getContexts().map(({ name }) => name);
  if (context !== undefined && !names.includes(context)) {
    return `The kubeconfig has no context ${context}; it has ${names.join(', ') || 'none'}.`;
  }
  if (context !== undefined) config.setCurrentContext(context);
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) return 'The kubeconfig names no cluster for its context.';
  if (!URL.canParse(server)) return 'The kubeconfig names a server that is no URL.';
  const { username, password } = new URL(server);
  return username + password === '' ? null : 'The kubeconfig has credentials in the URL of its server.';
}

/** F30: the parser's own message shows the lines around the fault, and a kubeconfig has tokens there. */
function whyUnreadable(error: unknown): string {
  if (!(error instanceof Error)) return 'it is no kubeconfig';
  if (!('reason' in error && typeof error.reason === 'string')) return error.message;
  const mark = 'mark' in error ? (error.mark as { readonly line?: number } | null) : null;
  return `${error.reason}${typeof mark?.line === 'number' ? ` in line ${mark.line + 1}` : ''}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy in between answers in HTML; its status tells what there is to tell.
    return null;
  }
}
