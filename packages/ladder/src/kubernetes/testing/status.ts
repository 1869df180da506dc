export interface Answer {
  readonly status: number;
  readonly body: object;
}

export const answer = (code: number, body: object): Answer => ({ status: code, body });

/** A `Status`, as the API server answers what it refuses. */
export const status = (code: number, reason: string, message: string, causes: readonly object[] = []): Answer => ({
  status: code,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
    ...(causes.length === 0 ? {} : { details: { causes } }),
  },
});
