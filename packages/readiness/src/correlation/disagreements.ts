import type { Activation, Expected, IncarnationKey, ObservedRuntime } from '../model/expected.ts';
import type { Disagreement, DisagreementCode, Presence } from '../model/presence.ts';

/** One incarnation's three sources, none of which fills in for another (I4). */
export interface Sources {
  readonly key: IncarnationKey;
  readonly expected: Expected;
  readonly activation: Activation;
  readonly observed: ObservedRuntime;
  readonly presence: Presence;
}

/** Every point on which the sources differ. Nothing is repaired: each is shown and blocks promotion (I4). */
export function disagreements(sources: Sources): readonly Disagreement[] {
  return [
    ...incarnation(sources),
    ...runtimeIdentity(sources),
    ...executable(sources),
    ...endpoint(sources),
    ...schema(sources),
    ...capability(sources),
  ];
}

function incarnation({ key, expected, activation, presence }: Sources): Disagreement[] {
  const found: Disagreement[] = [];
  const differ = (who: string, says: string) =>
    found.push(disagreement('incarnation-mismatch', `${who} ${says}, expected is ${key}`));
  if (activation.incarnation !== key) differ('the activation is of', activation.incarnation);
  if (activation.target !== expected.target) differ('the activation is of target', activation.target);
  if (presence.incarnation !== key) differ('the presence says', presence.incarnation);
  if (presence.target !== expected.target) differ('the presence says target', presence.target);
  return found;
}

/** A process that speaks with the right keys and is not the one that the driver started is another process (I2, I4). */
function runtimeIdentity({ observed, presence }: Sources): Disagreement[] {
  const { pid } = observed.identity;
  if (presence.pid === pid) return [];
  return [
    disagreement('runtime-identity-mismatch', `the presence says pid ${presence.pid}, the driver observed ${pid}`),
  ];
}

/**
 * What runs is what was sealed: the executable and, under an interpreter, the packaged entry (I2). A launcher at its
 * gate is neither, and no disagreement: the program is observed once it runs.
 */
function executable({ expected, observed }: Sources): Disagreement[] {
  if (observed.gate === 'waiting') return [];
  const found: Disagreement[] = [];
  const differ = (what: string, sawText: string, wantText: string) =>
    found.push(disagreement('executable-mismatch', `the ${what} observed is ${sawText}, expected is ${wantText}`));
  const { runtime } = expected;
  if (observed.executable !== runtime.executable) differ('executable', observed.executable, runtime.executable);
  const entry = observed.entry?.digest ?? null;
  if (entry !== runtime.entry) differ('packaged entry', entry ?? 'none', runtime.entry ?? 'none');
  return found;
}

function endpoint({ expected, activation, presence }: Sources): Disagreement[] {
  const found: Disagreement[] = [];
  const given = activation.endpoint;
  const range = expected.endpoint;
  const inRange =
    given === null || range === null
      ? given === range
      : given.host === range.host && given.port >= range.fromPort && given.port <= range.toPort;
  const rangeText = range === null ? 'none' : `${range.host}:${range.fromPort}-${range.toPort}`;
  if (!inRange) {
    found.push(disagreement('endpoint-mismatch', `the activation has ${textOf(given)}, expected is ${rangeText}`));
  }
  if (textOf(presence.endpoint) !== textOf(given)) {
    found.push(
      disagreement(
        'endpoint-mismatch',
        `the presence says ${textOf(presence.endpoint)}, it was given ${textOf(given)}`,
      ),
    );
  }
  return found;
}

const textOf = (at: { readonly host: string; readonly port: number } | null): string =>
  at === null ? 'none' : `${at.host}:${at.port}`;

function schema({ expected, presence }: Sources): Disagreement[] {
  const found: Disagreement[] = [];
  const want = expected.state?.schema ?? null;
  if (presence.stateSchema !== want) {
    const says = presence.stateSchema ?? 'none';
    found.push(
      disagreement('schema-mismatch', `the presence says state schema ${says}, expected is ${want ?? 'none'}`),
    );
  }
  if (expected.state === null && presence.epoch !== null) {
    found.push(disagreement('schema-mismatch', `the presence names epoch ${presence.epoch}, no state is expected`));
  }
  return found;
}

/** As sets: what is declared is provided, and nothing is provided that was not declared. */
function capability({ expected, presence }: Sources): Disagreement[] {
  const declared = expected.capabilities.map(capabilityText);
  const provided = presence.capabilities.map(capabilityText);
  const lacking = declared.filter((text) => !provided.includes(text));
  const excess = provided.filter((text) => !declared.includes(text));
  return [
    ...(lacking.length === 0 ? [] : [disagreement('capability-mismatch', `the presence lacks ${listText(lacking)}`)]),
    ...(excess.length === 0
      ? []
      : [disagreement('capability-mismatch', `the presence claims undeclared ${listText(excess)}`)]),
  ];
}

const capabilityText = ({ name, schema }: { readonly name: string; readonly schema: string }): string =>
  `${name} (${schema})`;

/** The longest list that a detail spells out, in characters. */
const MAX_LIST_LENGTH = 1000;

const listText = (texts: readonly string[]): string => [...texts].sort().join(', ').slice(0, MAX_LIST_LENGTH);

const disagreement = (code: DisagreementCode, detail: string): Disagreement => ({ code, detail });
