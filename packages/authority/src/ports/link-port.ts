/** A program beside the daemon that the whole fleet leans on. */
export type Helper = 'observer' | 'router' | 'attendant';

export type LinkStanding =
  /** Nobody has needed it yet. */
  | { readonly kind: 'untried' }
  /** No attempt has ended yet: neither there nor lost (I10). */
  | { readonly kind: 'trying' }
  | { readonly kind: 'up' }
  | { readonly kind: 'down'; readonly because: string };

/** How the daemon's link to one of them stands, for people. What the helper is asked goes through ports of its own. */
export interface LinkPort {
  standing(): LinkStanding;
  /** Told whenever the standing may be another. */
  onStanding(listener: () => void): void;
}
