import type { Misfortune } from './scenario.ts';
import type { World } from './world/world.ts';

/** How long a struck observer stays away: longer than a deployment may take. */
const OBSERVER_AWAY_MS = 30_000;

/** What the simulation can do to its engine and world. */
export interface Fates {
  readonly world: World;
  crash(at: string): void;
  reboot(): void;
  observer(up: boolean): void;
}

/** Lets a misfortune befall the world now; answers whether the engine dies of it. */
export function befall(fates: Fates, what: Misfortune): boolean {
  const { world } = fates;
  switch (what) {
    case 'death':
      fates.crash('a misfortune');
      return true;
    case 'reboot':
      fates.reboot();
      return true;
    case 'incumbent':
    case 'candidate': {
      const admitted = world.ledger.of('told-admitted').at(-1)?.incarnation;
      const isMeant = (incarnation: string): boolean => (incarnation === admitted) === (what === 'incumbent');
      const victim = [...world.processes.values()].find(
        ({ alive, activation }) => alive && isMeant(activation.incarnation),
      );
      if (victim !== undefined) world.end(victim, false);
      return false;
    }
    case 'observer':
      fates.observer(false);
      world.time.after(OBSERVER_AWAY_MS, () => fates.observer(true));
      return false;
  }
}
