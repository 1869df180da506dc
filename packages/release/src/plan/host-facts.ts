import { dirname } from 'node:path';
import type { Digest, Evidence } from '@idunn/kernel';
import type { BindingDocument } from '../binding/parse.ts';
import type { Fleet } from '../fleet/fleet.ts';

/** What planning has to know about the machine, asked before anything is fetched (F1). Absolute paths. */
export interface HostQuestions {
  readonly target: string;
  /** Files whose digest becomes part of the plan. */
  readonly interpreters: readonly string[];
  /** Files that only have to be there and executable. */
  readonly programs: readonly string[];
  readonly secrets: readonly string[];
  readonly directories: readonly string[];
  /** What runners are to show to their steps; it has to be there. */
  readonly mounts: readonly string[];
  /** Logins. */
  readonly users: readonly string[];
}

/** The machine's answers, by path. */
export interface HostFacts {
  readonly interpreters: Readonly<Record<string, Evidence<Digest>>>;
  readonly programs: Readonly<Record<string, Evidence<'executable' | 'not-executable'>>>;
  readonly secrets: Readonly<Record<string, Evidence<'private' | 'readable-by-others' | 'not-a-file'>>>;
  readonly directories: Readonly<Record<string, Evidence<Lineage>>>;
  readonly mounts: Readonly<Record<string, Evidence<Lineage>>>;
  /** The uid of each login. */
  readonly users: Readonly<Record<string, Evidence<number>>>;
  readonly signer: Evidence<{ readonly keyId: string; readonly publicKey: string }>;
}

/**
 * A directory and those around it, itself first: one identity each, made of device and inode, or for a part that does
 * not exist yet of the identity above it and the name. Links and mounts are followed, so one directory has one
 * identity however it is reached.
 */
export type Lineage = readonly string[];

/** All that must be asked for one binding; the state roots of the whole fleet are compared with its own. */
export function hostQuestions(fleet: Fleet, { binding }: BindingDocument): HostQuestions {
  const mounts = Object.values(binding.runner).flatMap(({ mount }) => mount.map(({ source }) => source));
  const all = [...fleet.bindings.values()].map((other) => other.binding);
  const stewards = all.flatMap(({ steward }) => (steward === undefined ? [] : [dirname(steward.store)]));
  const alone = binding.state === undefined && binding.steward === undefined && mounts.length === 0;
  const roots = alone ? [] : [...all.flatMap(({ state }) => state?.root ?? []), ...stewards];
  return {
    target: binding.target,
    interpreters: Object.values(binding.interpreter).flatMap(({ path }) => path ?? []),
    programs: Object.values(binding.runner).flatMap(({ allowed_programs }) => Object.values(allowed_programs)),
    secrets: Object.values(binding.secret).map(({ file }) => file),
    directories: alone ? [] : [...roots, ...Object.values(fleet.directories), fleet.root],
    mounts,
    users: binding.steward === undefined ? [] : [binding.steward.user],
  };
}
