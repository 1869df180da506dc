import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change, docsExample, faultLines, recipe } from '../testing/documents.ts';
import { parseRecipe } from './parse.ts';

/** The example without its state, and with another health contract. */
const attended = (health: string): string =>
  change(
    docsExample('recipe').replace(/\[state\][\s\S]*?(?=\[\[capability\]\])/, ''),
    'kind = "idunn"\npath = "/version"\nfreshness_ms = 300_000',
    health,
  );
/** Every fault in a line of its own; empty for a good recipe. */
function faults(text: string): string {
  const parsed = parseRecipe(text, 'recipe.toml');
  return parsed.ok ? '' : faultLines(parsed).join('\n');
}

test('a program that knows nothing of Idunn is looked at by HTTP, TCP or a command', () => {
  const { health } = recipe(attended('kind = "http"\npath = "/health"')).recipe;
  assert.deepEqual(health, {
    kind: 'http',
    path: '/health',
    method: 'GET',
    status: [200],
    freshness_ms: 300_000,
    interval_ms: 5_000,
    timeout_ms: 2_000,
    successes: 1,
    failures: 3,
  });
  for (const kind of ['kind = "tcp"', 'kind = "command"\nargv = ["node", "check.js"]']) {
    assert.equal(faults(attended(`${kind}\nroute_path = "/"`)), '');
  }
});

test('F11: one bad reading can never be a verdict', () => {
  assert.match(faults(attended('kind = "http"\npath = "/"\nfailures = 1')), /invalid-value health\.failures/);
});

test('a probe needs an endpoint, and an answer that it can be held to', () => {
  const http = attended('kind = "http"\npath = "/"');
  assert.match(faults(change(http, 'protocol = "http"\nrouted = true\n', '')), /service\.protocol is missing/);
  assert.match(faults(attended('kind = "http"\npath = "/"\nmethod = "HEAD"\nbody = "ok"')), /HEAD has no body/);
});

test('a routed service says by which path its route is seen to serve', () => {
  const missing = /health\.route_path is missing/;
  for (const health of [
    'kind = "tcp"',
    'kind = "http"\npath = "/"\nmethod = "POST"',
    'kind = "http"\npath = "/"\nstatus = [401]',
  ]) {
    assert.match(faults(attended(health)), missing);
    assert.equal(faults(attended(`${health}\nroute_path = "/open"`)), '');
  }
});

test('two whole turns of a probe fit into the freshness of a presence', () => {
  const pace = (freshness: number): string =>
    attended(`kind = "http"\npath = "/"\nfreshness_ms = ${freshness}\ninterval_ms = 4_000\ntimeout_ms = 1_000`);
  assert.equal(faults(pace(10_000)), '');
  assert.match(faults(pace(9_999)), /less than twice interval_ms and timeout_ms together, 10000/);
});

test('I11: a command is a program of the artifacts or the service’s interpreter, never another of the host', () => {
  const command = (first: string): string =>
    faults(attended(`kind = "command"\nroute_path = "/"\nargv = [${first}, "-x"]`));
  for (const first of ['{ slot = "artifact:server" }', '"bin/check"', '"node"']) assert.equal(command(first), '');
  for (const first of ['"/bin/sh"', '"sh"', '"../sh"', '"bin/../../sh"', '"bin/"', '{ slot = "endpoint-port" }']) {
    assert.match(command(first), /the first word is a slot artifact:ID/, first);
  }
  assert.match(command('{ slot = "artifact:other" }'), /undefined-reference/);
});

test('a program that does not speak for itself may keep state', () => {
  const text = change(
    docsExample('recipe'),
    'kind = "idunn"\npath = "/version"\nfreshness_ms = 300_000',
    'kind = "http"\npath = "/"',
  );
  assert.equal(faults(text), '');
});

test('I1: a command probe beside state is refused by name: it would be a process outside of the fenced tree', () => {
  const text = change(
    docsExample('recipe'),
    'kind = "idunn"\npath = "/version"\nfreshness_ms = 300_000',
    'kind = "command"\nargv = ["node", "check.js"]\nroute_path = "/"',
  );
  assert.match(faults(text), /feature-not-yet-supported command probes of a program with state/);
});
