import type { LeasePort } from '@idunn/authority';
import { leasePortContract } from '@idunn/authority/testing';
import type { StateStore } from '@idunn/release';
import { dice } from '../seed.ts';
import { VirtualTime } from '../virtual-time.ts';
import { World } from '../world/world.ts';
import { fakeLease } from './lease.ts';
import { Life } from './life.ts';

const store = (id: string): StateStore => ({ id, kind: 'sqlite', path: `${id}.db` });

/** A port in whose calls virtual time passes. */
function running(lease: LeasePort, time: VirtualTime): LeasePort {
  const pump = async <T>(answer: Promise<T>): Promise<T> => {
    let done = false;
    const settled = answer.finally(() => {
      done = true;
    });
    await time.run(() => done, 60_000);
    return settled;
  };
  return {
    prepare: (state) => pump(lease.prepare(state)),
    read: (state) => pump(lease.read(state)),
    writeNonce: (state, nonce) => pump(lease.writeNonce(state, nonce)),
    swap: (state, request) => pump(lease.swap(state, request)),
    sync: (state) => pump(lease.sync(state)),
    readClaim: (state) => pump(lease.readClaim(state)),
    writeClaim: (state, claim, over) => pump(lease.writeClaim(state, claim, over)),
  };
}

for (const ids of [['db'], ['one', 'two']]) {
  leasePortContract(`the simulator’s fake with ${ids.length} rows`, () => {
    const time = new VirtualTime();
    const world = new World(time, dice(1));
    const life = new Life(world, { fate: () => 'go', garbles: () => false }, () => {});
    const state = {
      stateId: 'game',
      schema: 'v1',
      accepts: ['v1'],
      root: '/state/game',
      stores: ids.map(store),
      lease: 'rows',
      fence: 'epoch-raised',
    } as const;
    return { lease: running(fakeLease(world, life), time), state };
  });
}
