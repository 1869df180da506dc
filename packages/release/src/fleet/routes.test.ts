import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseBinding } from '../binding/parse.ts';
import { compilePlan } from '../plan/compile.ts';
import {
  binding,
  change,
  docsExample,
  factsFor,
  faultLine,
  faultLines,
  fleetOf,
  hostFacts,
  recipe,
  valueOf,
} from '../testing/documents.ts';
import { assembleFleet } from './fleet.ts';
import { parseFleet } from './parse.ts';

const example = docsExample('binding');
const LISTEN = 'listen = { host = "127.0.0.1", port = 8080 }';
const TLS = '\n[route.tls]\ncertificate = "/tls/a.pem"\nkey = "/tls/a.key"\n';
/** The example's binding with other lines in `[route]`. */
const routed = (lines: string, target = 'ghostlight'): string =>
  change(change(example, LISTEN, lines), 'target = "ghostlight"', `target = "${target}"`);

const compile = (text: string, asked = docsExample('recipe')) => {
  const [bound, request] = [binding(text), recipe(asked)];
  return compilePlan({
    fleet: fleetOf(bound),
    machine: 'local',
    binding: bound,
    recipe: request,
    facts: factsFor(request),
    hostFacts: hostFacts(),
  });
};

/** The faults between these bindings. */
const between = (...texts: readonly string[]): string[] => {
  const golden = readFileSync(new URL('../golden/fleet-v1.toml', import.meta.url), 'utf8').replace(
    /\[profiles\][^]*/,
    '',
  );
  const document = valueOf(parseFleet(golden, 'fleet.toml'));
  return assembleFleet(
    '/fleet',
    document,
    fleetOf().directories,
    texts.map((text) => binding(text)),
    [],
  ).faults.map(faultLine);
};

test('names, TLS, a redirect and the idle limit reach the plan', () => {
  const more = '[[route.tls.more]]\ncertificate = "/tls/b.pem"\nkey = "/tls/b.key"\n';
  const names = 'names = ["a.example.org", "*.b.example.org"]';
  const lines = `${LISTEN}\n${names}\nredirect = { port = 8081 }\nidle_ms = 5_000\n${TLS}${more}`;
  const { route } = valueOf(compile(routed(lines)));
  assert.deepEqual(route?.names, ['a.example.org', '*.b.example.org']);
  assert.deepEqual(route?.tls?.certificates, [
    { certificate: '/tls/a.pem', key: '/tls/a.key' },
    { certificate: '/tls/b.pem', key: '/tls/b.key' },
  ]);
  assert.deepEqual([route?.redirect, route?.idleMs], [{ host: '127.0.0.1', port: 8_081 }, 5_000]);
});

test('a stream needs no health path, and says its protocol to whoever observes it', () => {
  const asked = change(
    change(docsExample('recipe'), 'protocol = "http"', 'protocol = "tcp"'),
    'path = "/version"\n',
    '',
  );
  const plan = valueOf(compile(routed(`protocol = "tcp"\nproxy_protocol = true\n${LISTEN}`), asked));
  assert.deepEqual([plan.route?.protocol, plan.route?.proxyProtocol, plan.health.path], ['tcp', true, null]);
  assert.equal(plan.launch.endpoint?.protocol, 'tcp');
});

test('I11: a service and its route speak the same', () => {
  const lines = faultLines(compile(routed(`protocol = "tcp"\n${LISTEN}`)));
  assert.match(lines.join(), /not-admitted the service speaks http, the binding's route is for tcp/);
});

test('what cannot go together in a route is refused, each with its reason', () => {
  const faults = (lines: string): string => faultLines(parseBinding(routed(lines), 'b')).join();
  assert.match(faults(`protocol = "tcp"\nnames = ["a.org"]\n${LISTEN}`), /tells its name by TLS only/);
  assert.match(faults(`protocol = "tcp"\nredirect = { port = 81 }\n${LISTEN}${TLS}`), /only http is redirected/);
  assert.match(faults(`redirect = { port = 81 }\n${LISTEN}`), /leads to https/);
  assert.match(faults(`redirect = { port = 8080 }\n${LISTEN}${TLS}`), /address of the route itself/);
  assert.match(faults(`proxy_protocol = true\n${LISTEN}`), /X-Forwarded-For/);
  for (const name of ['A.org', 'a..org', '*', 'a.*.org', 'a_b.org', '-a.org']) {
    assert.match(faults(`names = ["${name}"]\n${LISTEN}`), /a host name in lower case/, name);
  }
});

test('F9: routes share an address under different names and one protocol,', () => {
  const named = (name: string, target: string): string => routed(`${LISTEN}\nnames = ["${name}"]`, target);
  assert.deepEqual(between(named('a.org', 'one'), named('b.org', 'two'), routed(LISTEN, 'three')), []);
  assert.match(
    between(named('a.org', 'one'), named('a.org', 'two')).join(),
    /a\.org on 127\.0\.0\.1:8080 is bound twice/,
  );
  assert.match(between(routed(LISTEN, 'one'), routed(LISTEN, 'two')).join(), /127\.0\.0\.1:8080 is bound twice/);
  const secure = routed(`${LISTEN}\nnames = ["b.org"]${TLS}`, 'two');
  assert.match(between(named('a.org', 'one'), secure).join(), /shared by routes of one kind/);
  const redirected = (name: string, target: string): string =>
    routed(`listen = { port = 443 }\nnames = ["${name}"]\nredirect = { port = 8080 }${TLS}`, target);
  assert.deepEqual(between(redirected('a.org', 'one'), redirected('b.org', 'two')), []);
  assert.match(between(redirected('a.org', 'one'), routed(LISTEN, 'two')).join(), /for redirects already/);
});
