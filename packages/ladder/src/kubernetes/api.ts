/** What a request to the API server may carry. */
export interface KubeRequest {
  readonly method: 'GET' | 'PATCH' | 'DELETE';
  /** As the API documents it, such as `/apis/apps/v1/namespaces/qa/deployments/web`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: PatchType | 'application/json'; readonly value: unknown };
}

export type PatchType = 'application/apply-patch+yaml' | 'application/merge-patch+json';

/** An answer of any status; the body is parsed JSON. */
export interface KubeAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface KubeWatch {
  /** Resolves when the server or the network ended it, with why; never rejects. */
  readonly ended: Promise<string>;
  stop(): void;
}

/** The wire to one cluster. Everything above it is about Kubernetes' meaning, not about connections and credentials. */
export interface KubeApi {
  /** Where the cluster is, without credentials: for people. */
  readonly server: string;
  /** Rejects only when no answer was had: nothing is known then about what the server did (F8). */
  request(request: KubeRequest): Promise<KubeAnswer>;
  /** Calls `heard` for each event; `type` is `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`. */
  watch(
    path: string,
    query: Readonly<Record<string, string>>,
    heard: (type: string, object: unknown) => void,
  ): Promise<KubeWatch>;
}
