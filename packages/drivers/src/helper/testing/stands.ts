import type { LinkPort, LinkStanding } from '@idunn/authority';

/** Waits until a link stands so. */
export async function stands(link: LinkPort, holds: (standing: LinkStanding) => boolean): Promise<void> {
  let told = Promise.withResolvers<void>();
  link.onStanding(() => told.resolve());
  while (!holds(link.standing())) {
    await told.promise;
    told = Promise.withResolvers();
  }
}

/** Lost, and for this reason. */
export const lostBecause =
  (why: RegExp) =>
  (standing: LinkStanding): boolean =>
    standing.kind === 'down' && why.test(standing.because);
