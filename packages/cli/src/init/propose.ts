import { type Answer, answered, declined } from '@idunn/client';
import type { Facts } from './facts.ts';
import { guessContract } from './guess/embedded.ts';
import { purposeOf, type ReadVariable, readVariables } from './guess/environment.ts';
import { guessGo } from './guess/go.ts';
import { forks, guessHealthPath, listens } from './guess/health.ts';
import { embedsWorkload, guessNode } from './guess/node.ts';
import { guessPython } from './guess/python.ts';
import { guessStores } from './guess/state.ts';
import { guessStatic } from './guess/static.ts';
import { buriedPlaceholder, fromWords } from './guess/words.ts';
import type { Doubt, Guess, Health, Launch, Proposal, Store, Variable, Wishes, Word } from './model.ts';

/** What the recipe and the binding should say of a repository. Pure; every guess comes with its reason. */
export function propose(facts: Facts, wishes: Wishes): Answer<Proposal> {
  const launched = launchOf(facts, wishes);
  if (!launched.ok) return launched;
  const launch = launched.value;
  const guesses: Guess[] = [...launch.guesses];
  const doubts: Doubt[] = [...launch.doubts];
  const target = wishes.target ?? targetName(launch.name, facts);
  const isStatic = launch.kind === 'static';
  const variables = isStatic ? [] : readVariables(facts);
  const health = healthOf(facts, wishes, isStatic);
  const told = health.value.kind === 'idunn';
  const contract = told ? guessContract(facts) : null;
  const kept = contract ?? (isStatic ? NOTHING_KEPT : guessStores(facts, variables, target));
  const stores = wishes.stores.length > 0 ? wishes.stores : kept.stores;
  if (wishes.stores.length === 0) {
    guesses.push(...kept.guesses);
    if ('doubts' in kept) doubts.push(...kept.doubts);
  }
  // A program that embeds the workload package is told port and state by it.
  const given = give(told ? variables.filter(({ name }) => !isPlace(name)) : variables, launch, stores);
  guesses.push(...given.guesses);
  doubts.push(...given.doubts, ...(told ? [] : unreached(launch, given.variables, stores)));
  guesses.push(...health.guesses);
  doubts.push(...health.doubts);
  const forking = launch.service.artifact === 'packages' ? 'gunicorn' : forks(facts);
  const singleProcess = !facts.controlGroups && forking === null;
  if (!facts.controlGroups) {
    const what = 'the end of a whole process tree cannot be proven on this machine (no control groups of ours)';
    if (singleProcess)
      guesses.push({ what: 'single_process: it never starts another process', because: `no source does; ${what}` });
    else doubts.push({ what, remedy: `Run the daemon in a delegated control group: ${forking} may start processes.` });
  }
  return answered({
    ...launch,
    target,
    health: health.value,
    stores,
    schema: contract?.schema ?? `${target}/1`,
    capabilities: contract?.capabilities ?? [],
    variables: [...launch.variables, ...given.variables],
    open: given.open,
    singleProcess,
    guesses,
    doubts,
  });
}

const NOTHING_KEPT = { stores: [], guesses: [], doubts: [] } as const;

function launchOf(facts: Facts, { start }: Wishes): Answer<Launch> {
  if (start.length === 0) {
    const found = guessNode(facts) ?? guessPython(facts) ?? guessGo(facts) ?? guessStatic(facts);
    if (found !== null) return answered(preferSite(facts, found));
    return declined(
      'init-unrecognised',
      'nothing in the repository shows how its program is started',
      'Say it: idunn init -- PROGRAM FILE WORD…, for example idunn init -- python3 app.py {port}.',
    );
  }
  const buried = buriedPlaceholder(start);
  const found = buried === null ? fromWords(facts, start) : null;
  if (found !== null) return answered(found);
  return declined(
    'init-unrecognised',
    buried === null
      ? `neither ${start[0] ?? ''} nor ${start[1] ?? 'what follows'} is a file that Git tracks here`
      : `${buried} mixes text with what Idunn fills in, and only whole words are filled in`,
    'Name a committed program, or an interpreter and a committed file: idunn init -- node server.js {port}. ' +
      'Where a build makes the program, write the recipe by hand: docs/recipe.md.',
  );
}

/** A site builder's package.json is no program of Node's. */
const preferSite = (facts: Facts, found: Launch): Launch =>
  found.kind === 'node' && listens(facts) === null ? (guessStatic(facts) ?? found) : found;

function targetName(name: string, { repository, prefix }: Facts): string {
  const from = [name.replace(/^@[^/]*\//, ''), `${repository}/${prefix}`.replace(/\/+$/, '').split('/').at(-1) ?? ''];
  const names = from.map((one) =>
    one
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 63),
  );
  return names.find((one) => one !== '' && one !== 'main' && one !== 'app') ?? 'app';
}

const isPlace = (name: string): boolean => /^(?:port|host|state-)/.test(purposeOf(name));

/** Gives the variables that the program reads their slots, and says which ones are left to a person. */
function give(
  variables: readonly ReadVariable[],
  launch: Launch,
  stores: readonly Store[],
): { variables: Variable[]; open: Proposal['open'][number][]; guesses: Guess[]; doubts: Doubt[] } {
  const given: Variable[] = [];
  const open: Proposal['open'][number][] = [];
  const guesses: Guess[] = [];
  const doubts: Doubt[] = [];
  const [store] = stores;
  const has = (name: string): boolean => launch.variables.some((one) => one.name === name);
  const slot = (name: string, value: Word, where: string): void => {
    const why = `read in ${where}`;
    given.push({ name, value, why });
    guesses.push({
      what: `${name} is ${typeof value === 'string' ? value : `filled with ${value.slot}`}`,
      because: why,
    });
  };
  if (launch.kind === 'static')
    given.push({ name: 'PORT', value: { slot: 'endpoint-port' }, why: 'where serve.mjs listens' });
  for (const { name, where, fallback } of variables) {
    if (has(name)) continue;
    switch (purposeOf(name)) {
      case 'port':
        slot(name, { slot: 'endpoint-port' }, where);
        break;
      case 'host':
        slot(name, { slot: 'endpoint-host' }, where);
        break;
      case 'state-path':
        if (store === undefined) open.push({ name, where });
        else slot(name, { slot: `state-path:${store.id}` }, where);
        break;
      case 'state-root':
        if (store === undefined) open.push({ name, where });
        else slot(name, { slot: 'state-root' }, where);
        break;
      case 'state-url':
        if (store === undefined) open.push({ name, where });
        else
          doubts.push({
            what: `${name} (${where}) is a URL, and Idunn hands out paths, so that a rehearsal gets a copy`,
            remedy: 'Let the program take the file from a variable such as DATABASE_PATH when it is set.',
          });
        break;
      case 'secret':
        doubts.push({
          what: `${name} (${where}) looks like a secret, and is not written into a file of the fleet`,
          remedy: `Declare it as service.secrets and [secret.NAME]: the program then reads a file of its own.`,
        });
        break;
      case 'other':
        if (fallback === null) open.push({ name, where });
        break;
      case 'known':
        break;
    }
  }
  return { variables: given, open, guesses, doubts };
}

/** What the program needs to be told and nothing tells it. */
function unreached(launch: Launch, variables: readonly Variable[], stores: readonly Store[]): Doubt[] {
  const words = [...launch.args, ...[...launch.variables, ...variables].map(({ value }) => value)];
  const filled = words.flatMap((word) => (typeof word === 'string' ? [] : [word.slot]));
  const doubts: Doubt[] = [];
  if (!filled.includes('endpoint-port')) {
    doubts.push({
      what: 'nothing tells the program at which port to listen, and two builds run side by side during a deployment',
      remedy: 'Let it read PORT from the environment, or say it: idunn init -- node server.js {port}.',
    });
  }
  if (stores.length > 0 && !filled.some((slot) => slot.startsWith('state-'))) {
    doubts.push({
      what: 'nothing tells the program where its state is; a path of its own would lie in the sealed release',
      remedy: 'Let it take the path from DATABASE_PATH (or DATA_DIR), or say it: idunn init -- node server.js {state}.',
    });
  }
  return doubts;
}

function healthOf(
  facts: Facts,
  wishes: Wishes,
  isStatic: boolean,
): { value: Health; guesses: Guess[]; doubts: Doubt[] } {
  if (wishes.tcp) {
    const speaks = { what: 'it is well while it accepts connections, whatever it speaks', because: 'you said --tcp' };
    return { value: { kind: 'tcp' }, guesses: [speaks], doubts: [] };
  }
  const embedded = wishes.embedded ? 'you said --embedded' : embedsWorkload(facts);
  const kind = embedded === null ? 'http' : 'idunn';
  const speaks: Guess =
    embedded === null
      ? { what: 'Idunn probes it over HTTP', because: 'it does not embed @idunn/workload' }
      : {
          what: 'it signs its own presence',
          because: wishes.embedded ? embedded : `${embedded} imports @idunn/workload`,
        };
  if (wishes.health !== null) return { value: { kind, path: wishes.health }, guesses: [speaks], doubts: [] };
  if (isStatic) return { value: { kind, path: '/' }, guesses: [], doubts: [] };
  const found = guessHealthPath(facts);
  if (found !== null) {
    const path: Guess = { what: `${found.path} answers 200 while it is well`, because: `${found.where} names it` };
    return { value: { kind, path: found.path }, guesses: [speaks, path], doubts: [] };
  }
  const listening = listens(facts);
  return {
    value: { kind, path: '/' },
    guesses: [speaks],
    doubts: [
      listening === null
        ? {
            what: 'nothing shows that it answers HTTP at all',
            remedy:
              'Say --tcp where it speaks something else, or --health /PATH where that answers 200 while it is well.',
          }
        : {
            what: 'no health path was found, so / must answer 200 while it is well',
            remedy: 'Name a better one with --health /PATH.',
          },
    ],
  };
}
