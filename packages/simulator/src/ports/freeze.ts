import type { Freeze, FreezePort } from '@idunn/authority';
import { absent, digestJson, type Evidence, seen, unknown } from '@idunn/kernel';
import type { World } from '../world/world.ts';
import type { Life } from './life.ts';

export const fakeFreeze = (world: World, life: Life): FreezePort => {
  const read = (stops: World['frozen'], target: string, verb: string) =>
    life.read((): Evidence<Freeze> => {
      const stop = stops.get(target);
      if (stop === undefined) return absent;
      if (stop === 'unreadable') return unknown('permission denied');
      const clearedBy = `idunn ${verb} clear ${target}`;
      return seen({ ...stop, since: '2026-01-01T00:00:00.000Z', record: digestJson(stop), clearedBy });
    });
  return {
    read: (target) => read(world.frozen, target, 'freeze'),
    readHold: (target) => read(world.held, target, 'hold'),
  };
};
