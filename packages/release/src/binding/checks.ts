import { type Document, faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import type { Sections } from '../configuration/sections.ts';
import { checkInterpreters, checkRunners } from './build-checks.ts';
import type { BindingShape } from './schema.ts';

/** What must hold between fields of a binding. A field that is itself faulty is left out. */
export function checkBinding(document: Document, binding: Sections<BindingShape>): readonly Fault[] {
  return [
    ...checkSelection(document, binding),
    ...checkRunners(document, binding),
    ...checkInterpreters(document, binding),
    ...checkEndpoint(document, binding),
    ...checkRoute(document, binding),
    ...checkRollout(document, binding),
  ];
}

function checkSelection(document: Document, { source }: Sections<BindingShape>): Fault[] {
  if (source === undefined) return [];
  const faults: Fault[] = [];
  const pinned = source.selection === 'pinned-object';
  if (pinned && source.commit === undefined) {
    const message = 'source.commit is missing: selection is "pinned-object"';
    faults.push(
      faultAt(document, ['source', 'commit'], 'missing-field', message, document.place(['source', 'selection'])),
    );
  }
  if (!pinned && source.commit !== undefined) {
    const message = 'source.commit: only selection "pinned-object" has a commit';
    faults.push(
      faultAt(document, ['source', 'commit'], 'invalid-value', message, document.place(['source', 'selection'])),
    );
  }
  const signed = source.selection === 'signed-authorization';
  if (signed !== source.authorizers.length > 0) {
    const [code, message] = signed
      ? (['missing-field', 'source.authorizers is missing: selection is "signed-authorization"'] as const)
      : (['invalid-value', 'source.authorizers: only selection "signed-authorization" has authorizers'] as const);
    faults.push(faultAt(document, ['source', 'authorizers'], code, message, document.place(['source', 'selection'])));
  }
  if (source.commit !== undefined && source.commit.length !== source.minimum_revision.length) {
    const message = 'source.commit: it is in another object format than minimum_revision';
    faults.push(
      faultAt(document, ['source', 'commit'], 'invalid-value', message, document.place(['source', 'minimum_revision'])),
    );
  }
  return faults;
}

/** An outage by design is the operator's word, and says why. */
function checkRollout(document: Document, { rollout }: Sections<BindingShape>): Fault[] {
  if (rollout === undefined) return [];
  const stops = rollout.strategy === 'stop-then-start';
  if (stops === (rollout.reason !== undefined)) return [];
  const message = stops
    ? 'rollout.reason is missing: stop-then-start is for targets that cannot overlap, and says why'
    : 'rollout.reason: only strategy "stop-then-start" has a reason';
  const code = stops ? 'missing-field' : 'invalid-value';
  return [faultAt(document, ['rollout', 'reason'], code, message, document.place(['rollout', 'strategy']))];
}

function checkRoute(document: Document, { route }: Sections<BindingShape>): Fault[] {
  if (route === undefined) return [];
  const not = (field: string, message: string, related: string): Fault =>
    faultAt(
      document,
      ['route', field],
      'invalid-value',
      `route.${field}: ${message}`,
      document.place(['route', related]),
    );
  const faults: Fault[] = [];
  const streams = route.protocol === 'tcp';
  if (streams && route.names.length > 0 && route.tls === undefined) {
    faults.push(not('names', 'a stream tells its name by TLS only, and there is no [route.tls]', 'protocol'));
  }
  if (streams && route.redirect !== undefined) {
    faults.push(not('redirect', 'only http is redirected', 'protocol'));
  }
  if (!streams && route.redirect !== undefined && route.tls === undefined) {
    faults.push(not('redirect', 'it leads to https, and there is no [route.tls]', 'listen'));
  }
  if (!streams && route.proxy_protocol) {
    faults.push(not('proxy_protocol', 'it is for streams; a request says its client in X-Forwarded-For', 'protocol'));
  }
  if (route.redirect?.port === route.listen.port && route.redirect.host === route.listen.host) {
    faults.push(not('redirect', 'it is the address of the route itself', 'listen'));
  }
  return faults;
}

function checkEndpoint(document: Document, { endpoint, route, rollout }: Sections<BindingShape>): Fault[] {
  const faults: Fault[] = [];
  const { from_port: from, to_port: to } = endpoint ?? {};
  if ((from === undefined) !== (to === undefined)) {
    faults.push(faultAt(document, ['endpoint'], 'missing-field', 'endpoint: from_port and to_port go together'));
  }
  if (from !== undefined && to !== undefined) {
    // The incumbent and its candidate each need a port at the same time, unless one is stopped before the other starts.
    const alone = rollout?.strategy === 'stop-then-start';
    if (alone ? to < from : to <= from) {
      const message = alone
        ? 'endpoint.to_port: it is below from_port'
        : 'endpoint.to_port: the range needs at least two ports, from_port below to_port';
      faults.push(
        faultAt(document, ['endpoint', 'to_port'], 'invalid-value', message, document.place(['endpoint', 'from_port'])),
      );
    }
    if (route !== undefined && route.listen.port >= from && route.listen.port <= to) {
      const message = 'route.listen.port: it is inside the private endpoint range';
      faults.push(
        faultAt(
          document,
          ['route', 'listen', 'port'],
          'invalid-value',
          message,
          document.place(['endpoint', 'from_port']),
        ),
      );
    }
  }
  if (Object.hasOwn(document.value, 'route') && !Object.hasOwn(document.value, 'endpoint')) {
    faults.push(
      faultAt(
        document,
        ['endpoint'],
        'missing-field',
        '[endpoint] is missing: a route needs one behind it',
        document.place(['route']),
      ),
    );
  }
  return faults;
}
