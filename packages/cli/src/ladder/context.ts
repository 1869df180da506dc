import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { RefusalAnswer } from '@idunn/client';
import { type Outcome, ok, type Refusal, refusal, refused, systemClock, systemTimers } from '@idunn/kernel';
import {
  type Auditing,
  type AuditTrail,
  createGuard,
  type Guard,
  guardedOperations,
  type OpenLadder,
  openFileTrail,
  openLadder,
  type ReleaseOperations,
  type Slot,
} from '@idunn/ladder';
import { type CommonOptions, printJson, printLines, refuse } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { operateFleet } from '../ladder-idunn/fleet.ts';
import { type Style, styleOf } from '../render/style.ts';

/** Options that every command of the ladder takes. */
export interface LadderOptions extends CommonOptions {
  readonly ladder?: string;
  readonly places?: string;
  readonly allowGuarded?: boolean;
  readonly dryRun?: boolean;
}

/** A command of the ladder and its surroundings. */
export interface LadderContext {
  readonly environment: Environment;
  readonly json: boolean;
  readonly style: Style;
  readonly open: OpenLadder;
  readonly guard: Guard;
  readonly auditing: Auditing;
  /** Operations over what runs the slot; every change asks for its clearance and is written down. */
  readonly operations: (slot: Slot) => Promise<Outcome<ReleaseOperations>>;
  /** A line of progress, where people look. */
  readonly say: (line: string) => void;
}

/** What a command came to: what it prints, and the exit code where it is not 0. */
export interface Answered {
  readonly lines: readonly string[];
  readonly value: object;
  readonly exit?: number;
}

/** Runs one command of the ladder: opens its files, answers or refuses, and closes the log. */
export async function withLadder(
  environment: Environment,
  options: LadderOptions,
  work: (context: LadderContext) => Promise<Outcome<Answered>>,
): Promise<number> {
  const json = options.json ?? false;
  const file = resolve(environment.directory, options.ladder ?? environment.variable('IDUNN_LADDER') ?? 'ladder.yaml');
  const open = await openLadder({
    ladder: file,
    places: placesOf(environment, options, file),
    clock: systemClock(),
    timers: systemTimers,
    fleets: (place) => operateFleet(environment, place),
  });
  if (!open.ok) return refuse(environment, json, shown(open.refusal));
  const log = open.value.audit === null ? null : openFileTrail(open.value.audit);
  const auditing = {
    trail: log ?? NO_TRAIL,
    clock: systemClock(),
    who: { actor: actor(), tenant: 'local', from: hostname() },
  };
  const variable = environment.variable('IDUNN_ALLOW_GUARDED');
  const keys = { allowGuarded: options.allowGuarded ?? false, environment: { IDUNN_ALLOW_GUARDED: variable } };
  try {
    const answered = await work({
      environment,
      json,
      style: styleOf(environment, environment.out),
      open: open.value,
      guard: createGuard({ registry: open.value.registry, keys, auditing }),
      auditing,
      async operations(slot) {
        const operations = await open.value.operations(slot);
        return operations.ok ? ok(guardedOperations(operations.value, auditing)) : operations;
      },
      say: (line) => environment.err.write(`${line}\n`),
    });
    return told(environment, json, answered);
  } finally {
    log?.close();
  }
}

/** Runs a command that needs no ladder: one over a bundle by its file. */
export const answer = async (
  environment: Environment,
  options: CommonOptions,
  work: () => Promise<Outcome<Answered>>,
): Promise<number> => told(environment, options.json ?? false, await work());

function told(environment: Environment, json: boolean, answered: Outcome<Answered>): number {
  if (!answered.ok) return refuse(environment, json, shown(answered.refusal));
  const { lines, value, exit = 0 } = answered.value;
  if (json) printJson(environment, value);
  else printLines(environment.out, lines);
  return exit;
}

/** A refusal as the daemon would have answered it. */
const shown = ({ detail, ...rest }: Refusal): RefusalAnswer =>
  detail === undefined ? rest : { ...rest, detail: structuredClone(detail) as RefusalAnswer['detail'] };

/** A user whom the system has no name for is still somebody. */
function actor(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function placesOf(environment: Environment, options: LadderOptions, ladder: string): string | null {
  if (options.places !== undefined) return resolve(environment.directory, options.places);
  const beside = join(dirname(ladder), 'places.yaml');
  return existsSync(beside) ? beside : null;
}

/** Without a places file there is no log, and what cannot be written down is not done. */
const NO_TRAIL: AuditTrail = {
  append: async () =>
    refused(refusal('place-missing', 'No places file names an audit log, and nothing is changed unseen.')),
};
