import { access, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  makeStopDirectory,
  readStop,
  type Stop,
  type StopFile,
  type StopKind,
  stopFile,
  uidOf,
  WHOLE_FLEET,
  writeStop,
} from '@idunn/authority';
import type { RefusalAnswer } from '@idunn/client';
import { type Evidence, refusal } from '@idunn/kernel';
import { boundTargets } from '../bound.ts';
import { type CommonOptions, openContext, printJson, printLines, refuse, withSuggestion } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import { renderStop, type StopAnswer } from '../render/stop.ts';
import { styleOf } from '../render/style.ts';

export interface StopOptions extends CommonOptions {
  readonly wholeFleet?: boolean;
  readonly reason?: string;
  readonly store?: string;
  readonly targetId?: string;
  readonly ownerUser?: string;
}

/** It has no binding. */
const OBSERVER = 'observer';

export type Verb = 'engage' | 'clear' | 'status';

/** What the command is about, and whether the directory of the record may be made for it. */
interface Found {
  readonly about: StopFile;
  readonly own: boolean;
  /** The command that clears it, run by its owner. */
  readonly clearedBy: string;
}

/**
 * `idunn freeze|hold engage|clear|status`: reads and writes the record itself, so that a stop can be engaged when no
 * daemon answers. What was written is read back as the daemon will read it.
 */
export async function changeStop(
  environment: Environment,
  kind: StopKind,
  verb: Verb,
  target: string | undefined,
  options: StopOptions,
): Promise<number> {
  const json = options.json ?? false;
  const found = await placeOf(environment, kind, target, options);
  if ('code' in found) {
    refuse(environment, json, found);
    return found.code === 'words-invalid' ? EXIT.usage : EXIT.refused;
  }
  const { about, own, clearedBy } = found;
  if (verb !== 'status') {
    const made = own ? await makeStopDirectory(dirname(about.file)) : null;
    if (made?.ok === false) return refuse(environment, json, made.refusal as RefusalAnswer);
    const written = await writeStop(about, {
      state: verb === 'engage' ? 'engaged' : 'clear',
      by: environment.user.name,
      reason: options.reason ?? '',
      since: new Date(environment.nowMs()).toISOString(),
      freshId: environment.freshId('draft'),
    });
    if (!written.ok) return refuse(environment, json, written.refusal as RefusalAnswer);
  }
  const read = await readStop(about);
  const also = own && target !== undefined ? await fleetWide(about) : [];
  const answer = { ...answerOf(about, clearedBy, read), also };
  if (json) printJson(environment, answer);
  else {
    const style = styleOf(environment, environment.out);
    const lines = [answer, ...also].flatMap((stop) => renderStop(stop, style));
    printLines(environment.out, lines);
  }
  // A word that the daemon will not take for its owner's is no success.
  return verb !== 'status' && read.kind !== 'seen' ? EXIT.failed : EXIT.done;
}

/** The stop on the whole fleet, where it holds the target as well. */
async function fleetWide(about: StopFile): Promise<StopAnswer[]> {
  const file = join(dirname(about.file), `${WHOLE_FLEET}.json`);
  const whole = { ...about, file, target: WHOLE_FLEET };
  const answer = answerOf(whole, `idunn ${about.kind} clear --fleet`, await readStop(whole));
  return answer.state === 'engaged' || answer.state === 'unreadable' ? [answer] : [];
}

function answerOf({ kind, target, file }: StopFile, clearedBy: string, read: Evidence<Stop>): StopAnswer {
  const about = {
    schema: 'idunn.stop/v1',
    kind,
    target: target === WHOLE_FLEET ? null : target,
    file,
    clearedBy,
  } as const;
  if (read.kind === 'seen') {
    const { state, by, reason, since } = read.value.record;
    return { ...about, state, by, reason, since };
  }
  const reason = read.kind === 'unknown' ? read.because : null;
  return { ...about, state: read.kind === 'absent' ? 'absent' : 'unreadable', by: null, reason, since: null };
}

async function placeOf(
  environment: Environment,
  kind: StopKind,
  target: string | undefined,
  options: StopOptions,
): Promise<Found | RefusalAnswer> {
  if (options.store !== undefined) return storeOf(environment, kind, target, options, options.store);
  if (options.targetId !== undefined || options.ownerUser !== undefined) {
    return wrong('--target-id and --owner-user belong to --store.');
  }
  const whole = options.wholeFleet === true;
  if (whole === (target !== undefined)) return wrong('It takes one target, or --fleet for all of them.');
  const opened = await openContext(environment, options);
  if (!opened.ok) return opened.refusal;
  const name = target ?? WHOLE_FLEET;
  const file = stopFile(opened.value.directories.state, kind, name);
  const unknown = target === undefined ? null : await unknownTarget(opened.value.located.directory, target, file);
  if (unknown !== null) return unknown;
  const ownerUid = await ownerOf(environment, dirname(file), opened.value.directories.state);
  const clearedBy = `idunn ${kind} clear ${target ?? '--fleet'}`;
  return { about: { file, kind, target: name, ownerUid }, own: true, clearedBy };
}

/**
 * Whose record it is to be: that of who owns its directory, as the daemon of that user takes it, whoever runs the
 * command. A directory of root's, or none, says nothing of it.
 */
async function ownerOf({ user }: Environment, ...directories: readonly string[]): Promise<number> {
  for (const directory of directories) {
    const there = await stat(directory).catch(() => null);
    if (there !== null) return there.uid === 0 ? user.uid : there.uid;
  }
  return user.uid;
}

/**
 * A stop on a target that there is not would be believed, and stop nothing. Where bindings cannot be listed it is
 * written all the same, and one that lies there already can be cleared.
 */
async function unknownTarget(fleet: string, target: string, file: string): Promise<RefusalAnswer | null> {
  const targets = await boundTargets(fleet);
  if (targets === null || target === OBSERVER || targets.includes(target)) return null;
  const lies = await access(file).then(
    () => true,
    () => false,
  );
  if (lies) return null;
  const reason = `no binding of this fleet is of the target ${target}`;
  return withSuggestion(refusal('target-unknown', reason, { detail: { targets } }) as RefusalAnswer);
}

async function storeOf(
  environment: Environment,
  kind: StopKind,
  target: string | undefined,
  { targetId, ownerUser, wholeFleet }: StopOptions,
  file: string,
): Promise<Found | RefusalAnswer> {
  if (target !== undefined || wholeFleet === true || targetId === undefined) {
    return wrong('--store takes the target as --target-id ID, and no other.');
  }
  const of = (ownerUid: number): Found => ({
    about: { file, kind, target: targetId, ownerUid },
    own: false,
    clearedBy: `idunn ${kind} clear --store ${file} --target-id ${targetId}`,
  });
  if (ownerUser === undefined) return of(await ownerOf(environment, dirname(file)));
  const account = await uidOf(ownerUser);
  if (account.kind === 'seen') return of(account.value);
  return wrong(`${ownerUser} ${account.kind === 'absent' ? 'is no account here' : `is unknown: ${account.because}`}.`);
}

const wrong = (reason: string): RefusalAnswer =>
  refusal('words-invalid', reason, { remedy: 'Run the command with --help for its words.' }) as RefusalAnswer;
