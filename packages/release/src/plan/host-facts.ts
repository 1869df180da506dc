import { dirname } from 'node:path';
import type { Digest, Evidence } from '@idunn/kernel';
import type { BindingDocument } from '../binding/parse.ts';
import type { Binding } from '../binding/schema.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { readersOf } from '../fleet/readers.ts';

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
  /** Users and groups by name; those of every target's workload, and who may read, because no two may be the same. */
  readonly accounts?: readonly string[];
  readonly groups?: readonly string[];
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
  /** Absent where none was asked for. */
  readonly accounts?: Readonly<Record<string, Evidence<{ readonly uid: number; readonly gid: number }>>>;
  readonly groups?: Readonly<Record<string, Evidence<{ readonly gid: number }>>>;
  /** The user that Idunn runs as. */
  readonly uid?: number;
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
    ...(binding.workload.user === undefined
      ? {}
      : {
          accounts: [
            ...[...fleet.bindings.values()].flatMap((other) => usersOf(other.binding)),
            ...readersOf(fleet.source.reader),
          ],
          groups: groupsOf(binding),
        }),
  };
}

/** The users of a binding's workload, first the one that is always there. */
export const usersOf = ({ workload: { user, alternate_user: other } }: Binding): readonly string[] =>
  [user, other].filter((name) => name !== undefined);

const groupsOf = ({ workload: { group }, state }: Binding): readonly string[] =>
  [group, state?.group?.name].filter((name) => name !== undefined);
