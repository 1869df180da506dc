import { type Document, faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import type { Sections } from '../configuration/sections.ts';
import type { Recipe, RecipeShape } from './schema.ts';

type AttendedHealth = Exclude<NonNullable<Recipe['health']>, { kind: 'idunn' }>;

/** What must hold of a program that is attended: how it is looked at, and how its route is seen to serve. */
export function checkAttended(document: Document, recipe: Sections<RecipeShape>): readonly Fault[] {
  const { health, service } = recipe;
  if (health === undefined || health.kind === 'idunn') return [];
  return [
    ...checkPace(document, health),
    ...(service === undefined
      ? []
      : [...checkEndpoint(document, health, service), ...checkRoute(document, health, service)]),
    ...(service === undefined || health.kind !== 'command' ? [] : checkCommand(document, health, service)),
    ...checkCommandBesideState(document, health),
  ];
}

/** Two whole turns fit into the freshness, so that one lost reading makes nothing stale. */
function checkPace(document: Document, { freshness_ms, interval_ms, timeout_ms }: AttendedHealth): readonly Fault[] {
  if (2 * (interval_ms + timeout_ms) <= freshness_ms) return [];
  const message =
    `health.freshness_ms: ${freshness_ms} is less than twice interval_ms and timeout_ms together, ` +
    `${2 * (interval_ms + timeout_ms)}`;
  return [faultAt(document, ['health'], 'invalid-value', message)];
}

function checkEndpoint(
  document: Document,
  health: AttendedHealth,
  service: NonNullable<Recipe['service']>,
): readonly Fault[] {
  const faults: Fault[] = [];
  if (health.kind !== 'command' && service.protocol === undefined) {
    const message = `service.protocol is missing: a probe of the kind "${health.kind}" needs an endpoint`;
    faults.push(faultAt(document, ['service'], 'missing-field', message, document.place(['health', 'kind'])));
  }
  if (health.kind === 'http' && health.method === 'HEAD' && health.body !== undefined) {
    faults.push(faultAt(document, ['health', 'body'], 'invalid-value', 'health.body: an answer to HEAD has no body'));
  }
  return faults;
}

/** The route of an HTTP service is seen to serve by one GET through it, which must answer 2xx. */
function checkRoute(
  document: Document,
  health: AttendedHealth,
  service: NonNullable<Recipe['service']>,
): readonly Fault[] {
  if (!service.routed || service.protocol !== 'http' || health.route_path !== undefined) return [];
  const serves =
    health.kind === 'http' && health.method !== 'POST' && health.status.some((status) => status >= 200 && status < 300);
  if (serves) return [];
  const message =
    'health.route_path is missing: a routed service needs a path by which its route is seen to serve, ' +
    'one that answers GET with 2xx';
  return [faultAt(document, ['health'], 'missing-field', message, document.place(['service', 'routed']))];
}

/** A command of the recipe starts nothing that the service itself could not start (I11). */
function checkCommand(
  document: Document,
  { argv: [program] }: Extract<AttendedHealth, { kind: 'command' }>,
  service: NonNullable<Recipe['service']>,
): readonly Fault[] {
  if (program === undefined) return [];
  const isArtifact = typeof program !== 'string' && program.slot.startsWith('artifact:');
  const isPackaged =
    typeof program === 'string' && /^(?!\/)(?!.*(?:^|\/)\.\.?(?:\/|$)).*[^/]$/.test(program) && program.includes('/');
  if (isArtifact || isPackaged || (program === service.interpreter && program !== undefined)) return [];
  const message =
    'health.argv: the first word is a slot artifact:ID, a path with a slash in the artifact of the service, ' +
    'or its interpreter';
  return [faultAt(document, ['health', 'argv', 0], 'invalid-value', message)];
}

/** I1: the end of the program's tree is its fence, and a command that is a process outside of it could write on. */
function checkCommandBesideState(document: Document, { kind }: AttendedHealth): readonly Fault[] {
  if (kind !== 'command' || !Object.hasOwn(document.value, 'state')) return [];
  const message = 'command probes of a program with state: not yet supported';
  return [faultAt(document, ['health', 'kind'], 'feature-not-yet-supported', message, document.place(['state']))];
}
