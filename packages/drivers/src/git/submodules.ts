import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Gitlink, SourceRequest } from '@idunn/release';
import { type Listing, listTree, type RecordedLink } from './listing.ts';
import { formatOf, inspectCommit, isAncestor, type Repository } from './objects.ts';
import { HEAD, type Origin } from './origin.ts';

export interface SubmoduleReading {
  readonly admitted: SourceRequest['submodules'];
  readonly fetch: (path: string, from: Origin) => Promise<Outcome<'fetched'>>;
  /** Where the objects of the submodule at a path are kept. */
  readonly repositoryOf: (path: string) => Repository;
  readonly collidingNames: 'refuse' | 'keep';
}

/**
 * Every submodule below a tree, at the commit that is recorded there, from the origin that the binding admits for its
 * path, those inside others included. What the tree itself says of origins (`.gitmodules`) is never read (I11). All
 * that are not admitted are named before anything of the level is fetched (F1).
 */
export async function resolveSubmodules(
  listing: Listing,
  reading: SubmoduleReading,
): Promise<Outcome<{ readonly gitlinks: readonly Gitlink[]; readonly listings: readonly Listing[] }>> {
  const gitlinks: Gitlink[] = [];
  const listings: Listing[] = [];
  // Each level's submodules, then those that were found in them.
  for (let level = listing.gitlinks; level.length > 0; ) {
    const foreign = level.filter(({ path }) => grantOf(reading, path) === undefined);
    if (foreign.length > 0) return notAdmitted(foreign);
    const inside: RecordedLink[] = [];
    for (const link of level) {
      const found = await resolveOne(link, reading);
      if (!found.ok) return found;
      gitlinks.push(found.value.gitlink);
      listings.push(found.value.listing);
      inside.push(...found.value.listing.gitlinks);
    }
    level = inside;
  }
  return ok({ gitlinks, listings });
}

const grantOf = ({ admitted }: SubmoduleReading, path: string) => admitted.find((grant) => grant.path === path);

async function resolveOne(
  { path, commit: recorded }: RecordedLink,
  reading: SubmoduleReading,
): Promise<Outcome<{ readonly gitlink: Gitlink; readonly listing: Listing }>> {
  const grant = grantOf(reading, path);
  if (grant === undefined) throw new TypeError('an unchecked submodule');
  const { origin, ref } = grant;
  const fetched = await reading.fetch(path, grant);
  if (!fetched.ok) return fetched;
  const repository = reading.repositoryOf(path);
  const asked = { head: HEAD, commit: recorded, minimumRevision: null, recipePath: null };
  const { tip, commit } = await inspectCommit(repository, asked);
  const contained = tip !== null && commit?.id === recorded && (await isAncestor(repository, recorded, tip));
  if (!contained || commit === null) {
    const reason = `${ref} of ${origin} does not contain the commit ${recorded} of the submodule ${path}.`;
    return refused(refusal('source-commit-missing', reason));
  }
  const { tree } = commit;
  if (tree === null) {
    const reason = `The bytes of the commit ${recorded} of the submodule ${path} are not those of a proper commit.`;
    return refused(refusal('source-commit-malformed', reason));
  }
  const objectFormat = formatOf(recorded);
  const listed = await listTree(
    repository,
    { id: tree, format: objectFormat, base: `${path}/` },
    reading.collidingNames,
  );
  if (!listed.ok) return listed;
  return ok({ gitlink: { path, origin, ref, objectFormat, commit: recorded, tree }, listing: listed.value });
}

function notAdmitted(links: readonly RecordedLink[]): Outcome<never> {
  const named = links.map(({ path, commit }) => `${path} at ${commit}`).join(', ');
  return refused(refusal('submodule-not-admitted', `The binding admits no origin for the submodule ${named}.`));
}
