import { keepNewest } from '../keep-newest.ts';
import { type CommitObjects, isAncestor, type Repository } from './objects.ts';

/** Minimum revisions of which a descendant is remembered; the oldest are forgotten. */
const REMEMBERED = 1_024;

/**
 * Whether a commit descends from a minimum revision. A commit's id fixes its parents, and theirs: what was proven of
 * one holds for ever, in every repository, and for each of its children.
 */
export class Descent {
  /** By minimum revision, the newest commit that was proven to descend from it. */
  readonly #proven = new Map<string, string>();

  async proves(repository: Repository, minimumRevision: string, { minimum, commit }: CommitObjects): Promise<boolean> {
    if (minimum !== minimumRevision || commit === null) return false;
    const before = this.#proven.get(minimum) ?? minimum;
    const known = [commit.id, ...commit.parents].some((id) => id === before || id === minimum);
    if (!known && !(await isAncestor(repository, minimum, commit.id))) return false;
    keepNewest(this.#proven, minimum, commit.id, REMEMBERED);
    return true;
  }
}
