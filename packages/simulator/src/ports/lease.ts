import { isDeepStrictEqual } from 'node:util';
import type { LeasePort, LeaseRow, LeaseRows, OwnerClaim, SwapAnswer } from '@idunn/authority';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import type { Process } from '../world/process.ts';
import { ELSEWHERE } from '../world/sources.ts';
import type { StateRoot, World } from '../world/world.ts';
import { denied } from './lies.ts';
import type { Life } from './life.ts';

/** The one row of a lease that is kept in a file. */
const FILE = 'lease';

const targetOf = (state: StateContract): string => state.root.slice('/state/'.length);

const isOwn = (one: OwnerClaim, other: OwnerClaim): boolean => one.fleet === other.fleet && one.target === other.target;

/** The rows of simulated stores. With several, a crash may come between any two of them. */
export function fakeLease(world: World, life: Life): LeasePort {
  const rootOf = (state: StateContract): StateRoot => world.stateOf(targetOf(state));
  const placeOf = (state: StateContract): Map<string, LeaseRow> => rootOf(state)[state.lease];
  const storesOf = (state: StateContract): readonly string[] =>
    state.lease === 'file' ? [FILE] : state.stores.map(({ id }) => id);
  const rowsOf = (state: StateContract): LeaseRows => Object.fromEntries(placeOf(state));
  const set = (state: StateContract, store: string, row: LeaseRow): void => {
    placeOf(state).set(store, row);
    world.ledger.note({
      kind: 'row',
      store: `${targetOf(state)}/${store}`,
      epoch: row.epoch,
      activation: row.activation,
    });
  };

  /**
   * A program that begins, or ceases, to compare rows has its row elsewhere from now on: who held the state there holds
   * it here, as the driver has it, and the epoch goes on (I1).
   */
  const takeOver = (state: StateContract): void => {
    const { claim, [state.lease === 'file' ? 'rows' : 'file']: there } = rootOf(state);
    const left = [...there.values()].toSorted((a, b) => b.epoch - a.epoch)[0];
    const here = [...placeOf(state).entries()];
    if (claim === null || left === undefined || !here.every(([, row]) => row.epoch < left.epoch)) return;
    for (const [store] of here) set(state, store, { ...left, nonce: null });
  };

  /** Moves of several rows are made one after another, as their driver does; nothing comes after one that died. */
  const turns = new Map<string, Promise<unknown>>();
  const inTurn = (target: string, move: () => Promise<SwapAnswer>): Promise<SwapAnswer> => {
    const moved = (turns.get(target) ?? Promise.resolve()).then(move, move);
    turns.set(target, moved);
    return moved;
  };

  return {
    prepare: (state) =>
      life.effect(
        'prepare-lease',
        (): Outcome<LeaseRows> => {
          for (const id of storesOf(state)) {
            if (placeOf(state).has(id)) continue;
            const { stateId, schema } = state;
            const row = { stateId, epoch: 0, activation: null, release: null, stateSchema: schema, nonce: null };
            placeOf(state).set(id, row);
          }
          takeOver(state);
          return ok(rowsOf(state));
        },
        { lies: { claimed: () => ok({}), denied } },
      ),
    read: (state) =>
      life.look(
        (): Evidence<LeaseRows> => (placeOf(state).size === 0 ? absent : seen(rowsOf(state))),
        (rows) => (world.dice.hits(0.3) ? unknown('the page cannot be read') : garbled(rows)),
      ),
    writeNonce: (state, nonce) =>
      life.effect(
        'write-nonce',
        (): Outcome<'written'> => {
          const heldBy = [...world.processes.values()].filter((one) => holds(one, targetOf(state)));
          if (heldBy.length > 0) {
            const detail = { heldBy: heldBy.map(({ handle }) => handle.identity.pid) };
            return refused(refusal('store-busy', 'Somebody hangs in a write of its own.', { detail }));
          }
          for (const [store, row] of placeOf(state)) placeOf(state).set(store, { ...row, nonce });
          return ok('written');
        },
        { lies: { claimed: () => ok('written'), denied } },
      ),
    swap: async (state, { from, to }): Promise<SwapAnswer> => {
      const holder = from.activation === null ? undefined : world.processes.get(from.activation);
      const stores = storesOf(state);
      const rowAt = (store: string): LeaseRow => {
        const row = placeOf(state).get(store);
        if (row === undefined) throw new Error(`the store ${store} has no row`);
        return row;
      };
      const stands = (row: LeaseRow, at: { epoch: number; activation: string | null }): boolean =>
        row.epoch === at.epoch && row.activation === at.activation;
      const halfway = { epoch: to.epoch, activation: null };
      const write = (store: string, activation: string | null): void => {
        const { release, stateSchema, epoch } = to;
        set(state, store, { ...rowAt(store), epoch, activation, release, stateSchema });
      };
      /** A repeat goes on where the last one ended. */
      const refusing = (): SwapAnswer | null => {
        if (holder?.alive === true && holder.behaviour === 'holds-database')
          return { kind: 'busy', store: stores[0] ?? '' };
        const odd = stores.some((store) => ![from, to, halfway].some((at) => stands(rowAt(store), at)));
        return odd ? { kind: 'differs', rows: rowsOf(state) } : null;
      };
      if (stores.length === 1) {
        return life.effect(
          'swap',
          (): SwapAnswer => {
            const refused = refusing();
            if (refused !== null) return refused;
            for (const store of stores) if (!stands(rowAt(store), to)) write(store, to.activation);
            return { kind: 'swapped' };
          },
          {
            lies: {
              denied: () => ({ kind: 'busy', store: stores[0] ?? '' }),
              garbled: () => ({ kind: 'differs', rows: {} }),
            },
          },
        );
      }
      return inTurn(targetOf(state), async () => {
        for (const store of stores) {
          const refused = await life.effect('revoke', () => {
            const because = refusing();
            if (because === null && stands(rowAt(store), from)) write(store, null);
            return because;
          });
          if (refused !== null) return refused;
        }
        for (const store of stores) {
          await life.effect('grant-row', () => {
            if (stands(rowAt(store), halfway)) write(store, to.activation);
          });
        }
        return { kind: 'swapped' };
      });
    },
    sync: () => life.effect('sync', (): Outcome<'durable'> => ok('durable'), { lies: { denied } }),
    readClaim: (state) =>
      life.look(
        (): Evidence<OwnerClaim> => {
          const { claim } = rootOf(state);
          return claim === null ? absent : seen(claim);
        },
        (claim) =>
          claim.kind === 'seen' ? seen({ ...claim.value, fleet: 'elsewhere' }) : unknown('it cannot be read'),
      ),
    writeClaim: (state, claim, over) =>
      life.effect(
        'write-claim',
        (): Outcome<'written'> => {
          const there = rootOf(state).claim;
          if (there !== null && !isOwn(there, claim) && !isDeepStrictEqual(there, over)) {
            const owner = `${there.fleet}/${there.target}`;
            return refused(refusal('foreign-claim', `The state was claimed by ${owner} meanwhile.`));
          }
          rootOf(state).claim = claim;
          world.ledger.note({ kind: 'claimed', root: targetOf(state), fleet: claim.fleet });
          return ok('written');
        },
        { lies: { denied } },
      ),
  };
}

/** It hangs in a write of its own, and lets nobody else write. */
const holds = ({ alive, behaviour, writing, activation }: Process, target: string): boolean =>
  alive && writing && behaviour === 'holds-database' && activation.target === target;

/** One store of them names somebody else. */
function garbled(rows: Evidence<LeaseRows>): Evidence<LeaseRows> {
  const [store, row] = rows.kind === 'seen' ? (Object.entries(rows.value)[0] ?? []) : [];
  if (rows.kind !== 'seen' || store === undefined || row === undefined) return rows;
  return seen({ ...rows.value, [store]: { ...row, activation: ELSEWHERE.activation } });
}
