import { join, resolve } from 'node:path';
import { type Answer, answered, createClient, declined, fleetDirectories, operatorSocket } from '@idunn/client';
import { type CommonOptions, printJson, printLines, refuse } from '../context.ts';
import { checkFiles } from '../edge/check-files.ts';
import type { Environment } from '../edge/environment.ts';
import { readFacts } from '../edge/repository.ts';
import { exists, makeOwnDirectory, writeOnce } from '../edge/write-once.ts';
import { EXIT } from '../exit.ts';
import type { Facts } from '../init/facts.ts';
import type { Proposal, Store, Wishes } from '../init/model.ts';
import { type FleetPlace, placeInFleet } from '../init/place.ts';
import { propose } from '../init/propose.ts';
import { bindingText } from '../init/write/binding.ts';
import { RECIPE, recipeText } from '../init/write/recipe.ts';
import { type InitReport, renderInit } from '../render/init.ts';
import { styleOf } from '../render/style.ts';

export interface InitOptions extends CommonOptions {
  readonly repository?: string;
  readonly target?: string;
  readonly port?: number;
  readonly state?: readonly Store[];
  readonly health?: string;
  readonly tcp?: boolean;
  readonly embedded?: boolean;
  readonly print?: boolean;
}

/** `idunn init [-- WORDS]`: writes a recipe and a binding for a repository, says what it guessed, and checks both. */
export async function init(environment: Environment, words: readonly string[], options: InitOptions): Promise<number> {
  const answer = await initialise(environment, words, options);
  if (!answer.ok) return refuse(environment, options.json ?? false, answer.refusal);
  if (options.json === true) printJson(environment, { schema: 'idunn.init/v1', ...answer.value });
  else printLines(environment.out, renderInit(answer.value, styleOf(environment, environment.out)));
  return answer.value.faults.length === 0 ? EXIT.done : EXIT.failed;
}

async function initialise(
  environment: Environment,
  words: readonly string[],
  options: InitOptions,
): Promise<Answer<InitReport>> {
  const directory = resolve(environment.directory, options.repository ?? '.');
  const facts = await readFacts(directory, environment.variable('PATH'), words[0]);
  if (!facts.ok) return facts;
  const proposed = await proposeOrAsk(environment, facts.value, wishesOf(words, options));
  if (!proposed.ok) return proposed;
  const proposal = proposed.value;
  const fleet = await placeInFleet(environment, options, proposal.target);
  if (!fleet.ok) return fleet;
  const { text: binding, missing } = bindingText(proposal, facts.value, fleet.value);
  const recipe = recipeText(proposal, facts.value.prefix);
  const recipeFile = join(directory, RECIPE);
  const bindingFile = join(fleet.value.directory, 'bindings', `${proposal.target}.toml`);
  const files = [
    ...(fleet.value.text === null ? [] : [{ path: join(fleet.value.directory, 'fleet.toml'), text: fleet.value.text }]),
    { path: recipeFile, text: recipe },
    ...proposal.files.map(({ path, text }) => ({ path: join(directory, path), text })),
    { path: bindingFile, text: binding },
  ];
  const { faults, start } = await checkFiles({
    fleet: { directory: fleet.value.directory, text: fleet.value.text },
    recipe: { file: recipeFile, text: recipe },
    binding: { file: bindingFile, text: binding },
  });
  const written = options.print === true ? answered(false) : await write(files, proposal, fleet.value);
  if (!written.ok) return written;
  const lacking = missing.map((name) => ({
    what: `${name} is not on the path`,
    remedy: `Install it, or correct its file in ${bindingFile}.`,
  }));
  return answered({
    target: proposal.target,
    kind: proposal.kind,
    start,
    written: written.value,
    files,
    guesses: proposal.guesses,
    doubts: [...proposal.doubts, ...lacking],
    faults,
    state: proposal.stores.length === 0 ? null : fleet.value.stateRoot,
    next: await nextWords(
      environment,
      directory,
      files.map(({ path }) => path),
      proposal,
      fleet.value,
    ),
  });
}

const wishesOf = (words: readonly string[], { target, health, tcp, state, embedded }: InitOptions): Wishes => ({
  target: target ?? null,
  health: health ?? null,
  tcp: tcp ?? false,
  stores: state ?? [],
  embedded: embedded ?? false,
  start: words,
});

/** Somebody at a terminal is asked once, and only when the repository does not show it. */
async function proposeOrAsk(environment: Environment, facts: Facts, wishes: Wishes): Promise<Answer<Proposal>> {
  const proposed = propose(facts, wishes);
  if (proposed.ok || wishes.start.length > 0) return proposed;
  const said = await environment.ask(
    'Nothing here shows how the program is started. Type the words, {port} where the port belongs\n' +
      '(for example: python3 app.py {port}): ',
  );
  const start = (said ?? '')
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '');
  return start.length === 0 ? proposed : propose(facts, { ...wishes, start });
}

/** Never over what is there: the first file that exists refuses all of them. */
async function write(
  files: InitReport['files'],
  { stores }: Proposal,
  { stateRoot }: FleetPlace,
): Promise<Answer<boolean>> {
  for (const { path } of files) {
    if (!(await exists(path))) continue;
    return declined(
      'init-exists',
      `${path} is there already; nothing was written`,
      'Keep it and correct it by hand, or move it away and run idunn init again; --print shows what it would be.',
    );
  }
  try {
    for (const { path, text } of files) await writeOnce(path, text);
    if (stores.length > 0) await makeOwnDirectory(stateRoot);
    return answered(true);
  } catch (error) {
    return declined(
      'init-not-written',
      error instanceof Error ? error.message : String(error),
      'Correct the permissions or free some space, remove what was written, and run idunn init again.',
    );
  }
}

/** What to run next, as argv lines that can be pasted. */
async function nextWords(
  environment: Environment,
  directory: string,
  paths: readonly string[],
  { target }: Proposal,
  fleet: FleetPlace,
): Promise<string[]> {
  const inTree = paths.filter((path) => path.startsWith(`${directory}/`) && !path.startsWith(`${fleet.directory}/`));
  const named = inTree.map((path) => pasted(path.slice(directory.length + 1))).join(' ');
  const at = directory === environment.directory ? '' : ` -C ${pasted(directory)}`;
  const flag = fleet.flag === null ? '' : ` --fleet ${pasted(fleet.flag)}`;
  const serves = fleet.text === null && (await daemonAnswers(environment, fleet.directory));
  return [
    `git${at} add ${named}`,
    `git${at} commit -m "Say how ${target} is deployed"`,
    ...(serves ? [] : [`idunn${flag} daemon --detach`]),
    `idunn${flag} plan ${target}`,
    `idunn${flag} up ${target}`,
  ];
}

async function daemonAnswers(environment: Environment, fleet: string): Promise<boolean> {
  const { root, home } = environment;
  const directories = await fleetDirectories(fleet, { root, home, variable: (name) => environment.variable(name) });
  return directories.ok && (await createClient(operatorSocket(directories.value)).version()).ok;
}

/** A word as it can be pasted into a shell, which only people use. */
const pasted = (word: string): string => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
