import { dirname, join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import type { HostInterpreter, LaunchContract, LaunchValue, SealedInterpreter, StateContract } from '@idunn/release';

/** What a launch contract comes to for one activation. */
export interface LaunchWords {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** The packaged entry of an interpreted program; `null` for a packaged executable. */
  readonly entry: string | null;
  readonly cwd: string;
}

export interface LaunchSite {
  readonly launch: LaunchContract;
  readonly state: StateContract | null;
  readonly activation: Activation;
  readonly activationDirectory: string;
  /** Absolute path of a file of the sealed release's artifact; an empty path names the artifact itself. */
  readonly artifactFile: (artifact: string, path: string) => string;
}

/** Fills the slots of argv and environment. Pure; refuses a slot that has no value here. */
export function launchWords(site: LaunchSite): Outcome<LaunchWords> {
  const { program } = site.launch;
  const packaged = program.kind === 'artifact' ? program : program.entry;
  const file = site.artifactFile(packaged.artifact, packaged.path);
  const root = site.artifactFile(packaged.artifact, '');
  const head: readonly [string, ...string[]] =
    program.kind === 'artifact' ? [file] : [interpreterFile(program, site.artifactFile), file];
  const tail: string[] = [];
  for (const value of site.launch.args) {
    const word = fillWord(value, site);
    if (!word.ok) return word;
    tail.push(word.value);
  }
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(site.launch.environment)) {
    const word = fillWord(value, site);
    if (!word.ok) return word;
    environment[name] = word.value;
  }
  return ok({
    argv: [...head, ...tail],
    environment: {
      ...environment,
      IDUNN_ACTIVATION: site.activation.activation,
      IDUNN_ACTIVATION_DIRECTORY: site.activationDirectory,
    },
    entry: program.kind === 'artifact' ? null : file,
    cwd: root === file ? dirname(file) : root,
  });
}

const interpreterFile = (program: HostInterpreter | SealedInterpreter, artifactFile: LaunchSite['artifactFile']) =>
  program.origin === 'host' ? program.path : artifactFile(program.artifact, '');

/** One word of a contract with its slot filled. */
export function fillWord(value: LaunchValue, site: LaunchSite): Outcome<string> {
  if ('literal' in value) return ok(value.literal);
  const word = slotValue(value.slot, site);
  return word === null
    ? refused(refusal('launch-slot-unknown', `The launch slot ${value.slot} cannot be filled here.`))
    : ok(word);
}

function slotValue(slot: string, { state, activation, activationDirectory, artifactFile }: LaunchSite): string | null {
  const [name, id] = splitOnce(slot, ':');
  switch (name) {
    case 'state-path': {
      const store = state?.stores.find((candidate) => candidate.id === id);
      return state === null || store === undefined ? null : join(state.root, store.path);
    }
    case 'state-root':
      return state?.root ?? null;
    case 'endpoint-port':
      return activation.endpoint === null ? null : String(activation.endpoint.port);
    case 'endpoint-host':
      return activation.endpoint?.host ?? null;
    case 'activation-directory':
      return activationDirectory;
    case 'artifact': {
      const [artifact, path] = splitOnce(id, '/');
      return artifact === '' ? null : artifactFile(artifact, path);
    }
    default:
      return null;
  }
}

function splitOnce(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
