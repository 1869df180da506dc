/** @typedef {import('node:http').ServerResponse} Response */

/** @param {Response} response */
export function answer(response, status, value, headers = {}) {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** Nothing was done: the router may send the same request to the new writer. @param {Response} response */
export function rejectBeforeEffect(response, error) {
  answer(response, 503, { error }, { 'Retry-After': '1', 'Idunn-Rejected': 'before-effect' });
}

export const refuse = (response, status, error) => answer(response, status, { error });
