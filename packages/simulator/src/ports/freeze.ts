import type { Freeze, FreezePort } from '@idunn/authority';
import { absent, digestJson, type Evidence, seen, unknown } from '@idunn/kernel';
import type { World } from '../world/world.ts';
import type { Life } from './life.ts';

export const fakeFreeze = (world: World, life: Life): FreezePort => ({
  read: (target) =>
    life.read((): Evidence<Freeze> => {
      const freeze = world.frozen.get(target);
      if (freeze === undefined) return absent;
      if (freeze === 'unreadable') return unknown('permission denied');
      const clearedBy = `idunn freeze clear ${target}`;
      return seen({ ...freeze, since: '2026-01-01T00:00:00.000Z', record: digestJson(freeze), clearedBy });
    }),
});
