import type {
  ChannelPort,
  EnginePorts,
  FreezePort,
  LeasePort,
  LeaseRow,
  ObserverPort,
  RoutePort,
} from '@idunn/authority';
import { absent, digestJson, type Evidence, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { ReleasePort, StateContract } from '@idunn/release';
import { digestOf, sealedFor } from '../world/sources.ts';
import type { Draft } from './draft.ts';
import type { Sources } from './kinds.ts';
import { smallWorkload } from './programs.ts';
import { smallStore } from './records.ts';
import { BOOT, correlationOf, type Program, presenceOf, type SmallWorld } from './world.ts';

/** The one row of a lease that is kept in a file. */
const FILE = 'lease';

/** The ports of one step over a draft. `unused` names an identifier that nothing of the state carries. */
export function smallPorts(draft: Draft, sources: Sources, unused: (prefix: string) => string): EnginePorts {
  const observer = smallObserver(draft);
  return {
    clock: { wallMs: () => draft.nowMs, monotonicMs: () => draft.nowMs, bootId: BOOT },
    // Time is the explorer's: no timer ever fires by itself.
    timers: { after: () => () => undefined },
    ids: { fresh: unused },
    store: smallStore(draft),
    release: smallRelease(draft, sources),
    workload: smallWorkload(draft, sources),
    channel: smallChannel(draft),
    lease: smallLease(draft),
    route: smallRoute(draft),
    freeze: smallFreeze(draft),
    observerFor: () => observer,
  };
}

function smallRelease(draft: Draft, { plans }: Sources): ReleasePort {
  return {
    plan: ({ ref = '' }) =>
      draft.effect('plan', () => {
        const plan = plans.get(ref);
        return plan === undefined ? refused(refusal('driver-fault', `no ${ref}`)) : ok({ plan, fetchMs: 0 });
      }),
    materialize: (plan) =>
      draft.effect('materialize', () => ok({ stage: digestOf(`stage ${plan.source.commit}`), fetchMs: 0 })),
    seal: (plan) => draft.effect('seal', () => ok({ ...sealedFor(plan), stepsMs: 1 })),
    installed: () => draft.effect('installed', () => refused(refusal('driver-fault', 'nobody asks'))),
    collect: async () => undefined,
  };
}

function smallFreeze(draft: Draft): FreezePort {
  const stop = { by: 'ops', reason: 'audit' };
  const since = '2026-01-01T00:00:00.000Z';
  return {
    read: async (target) =>
      draft.world.frozen
        ? seen({ ...stop, since, record: digestJson(stop), clearedBy: `idunn freeze clear ${target}` })
        : absent,
    readHold: async () => absent,
  };
}

function smallObserver(draft: Draft): ObserverPort {
  const told = (name: string, key: keyof SmallWorld['projections'], work: () => void) =>
    draft.effect(name, () => {
      work();
      // What it takes in it says at once; what programs say reaches it, and then the engine, in its own time.
      draft.observes(key, correlationOf(draft.world, key));
      return ok('acknowledged' as const);
    });
  const project = (
    key: keyof SmallWorld['projections'],
    change: Partial<SmallWorld['projections'][typeof key]>,
  ): void => {
    const { projections } = draft.world;
    const before = projections[key] ?? { activation: null, observed: null, ready: null };
    draft.change({ projections: { ...projections, [key]: { ...before, ...change } } });
  };
  return {
    publishExpected: (key) =>
      told('publish-expected', key, () => {
        if (draft.world.projections[key] === undefined) draft.deeds.push({ kind: 'expected', incarnation: key });
        project(key, {});
      }),
    publishActivation: (activation, observed) =>
      told('publish-activation', activation.incarnation, () =>
        project(activation.incarnation, { activation, observed }),
      ),
    demote: (key, activation) =>
      told('demote', key, () => {
        if (draft.world.projections[key]?.activation?.activation === activation) {
          project(key, { activation: null, observed: null });
        }
      }),
    withdraw: (key) =>
      told('withdraw-expected', key, () => {
        const { [key]: _, ...projections } = draft.world.projections;
        draft.change({ projections });
      }),
    read: (key) => {
      const word = draft.world.words[key];
      return word === undefined ? absent : seen(word);
    },
    subscribe: () => undefined,
  };
}

function smallChannel(draft: Draft): ChannelPort {
  const connected = (id: string): Program | null => {
    const program = draft.world.programs[id];
    return program?.alive === true && draft.hands.channels.includes(id) ? program : null;
  };
  return {
    open: ({ activation }) =>
      draft.effect('open-channel', () => {
        const program = draft.world.programs[activation];
        if (program?.alive !== true || program.said === null) {
          return refused(refusal('channel-not-listening', `${activation} does not listen.`));
        }
        draft.hold('channels', activation);
        return ok('open' as const);
      }),
    presence: (id) => {
      const program = connected(id);
      const presence = program === null ? null : presenceOf(program);
      return presence === null ? absent : seen({ presence, ageMs: 0 });
    },
    echo: (id, nonce) =>
      draft.effect('echo', (): Evidence<Readonly<Record<string, string>>> => {
        const program = connected(id);
        if (program === null || program.gate !== 'none') return unknown('nobody reads it back');
        const read = (row: LeaseRow): string => (program.stray ? 'another' : (row.nonce ?? nonce));
        if (!program.stray) draft.program(id, { echoed: nonce });
        return seen(Object.fromEntries(Object.entries(draft.world.rows).map(([store, row]) => [store, read(row)])));
      }),
    relinquish: (id, { requestId }) =>
      draft.effect('relinquish', () => {
        const program = connected(id);
        if (program === null || program.stray) return { kind: 'silent' as const, because: 'no answer in time' };
        draft.program(id, { relinquished: requestId });
        draft.deeds.push({ kind: 'asked', activation: id });
        return { kind: 'relinquished' as const, lastWriteAtMs: null };
      }),
    withdraw: (id) =>
      draft.effect('withdraw', () => {
        if (connected(id) !== null) draft.program(id, { relinquished: null });
      }),
    grant: (id, { epoch }) =>
      draft.effect('grant', () => {
        if (connected(id) === null) return refused(refusal('channel-closed', `${id} is not connected.`));
        draft.program(id, { granted: epoch, relinquished: null });
        draft.deeds.push({ kind: 'granted', activation: id, epoch });
        return ok('delivered' as const);
      }),
    close: (id) => draft.effect('close', () => draft.letGo(id)),
    subscribe: () => undefined,
  };
}

function smallRoute(draft: Draft): RoutePort {
  const listen = { host: '127.0.0.1', port: 8_000 };
  const none = { held: 0, failed: 0, longestHoldMs: 0 };
  return {
    read: async (route) => {
      const { route: served } = draft.world;
      if (served === null) return absent;
      return seen({ route, generation: 1, listen, protocol: 'http', names: [], certificates: [], ...served });
    },
    stage: (_target, _contract, members) =>
      draft.effect('stage-route', () => {
        const stage = `stage ${members.map(({ activation }) => activation).join(' ')}`;
        draft.change({ staged: { ...draft.world.staged, [stage]: members } });
        return ok({ stage, generation: 1 });
      }),
    hold: () => draft.effect('hold-route', () => ok('held' as const)),
    release: () => draft.effect('release-route', () => ok('released' as const)),
    publish: ({ stage }) =>
      draft.effect('publish-route', () => {
        const members = draft.world.staged[stage];
        if (members === undefined) return refused(refusal('driver-fault', `There is no ${stage}.`));
        draft.change({ route: { members } });
        draft.deeds.push({ kind: 'routed', activations: members.map(({ activation }) => activation) });
        return ok('published' as const);
      }),
    observe: () =>
      draft.effect('observe-route', () => {
        const member = draft.world.route?.members[0];
        if (member === undefined || draft.world.programs[member.activation]?.alive !== true) return absent;
        return seen({ incarnation: member.incarnation, status: 200, body: null });
      }),
    open: async () => seen(0),
    remove: () => draft.effect('remove-route', () => ok('removed' as const)),
    switchReport: async () => seen(none),
  };
}

function smallLease(draft: Draft): LeasePort {
  const placeOf = ({ lease }: StateContract): SmallWorld['rows'] => draft.world[lease];
  const set = ({ lease }: StateContract, store: string, row: LeaseRow): void => {
    const { epoch, activation } = row;
    const highest = activation === null ? draft.world.highest : Math.max(draft.world.highest, epoch);
    draft.change({ [lease]: { ...draft.world[lease], [store]: row }, highest });
    draft.deeds.push({ kind: 'row', store: lease === 'file' ? `app/${FILE}` : `app/${store}`, epoch, activation });
  };
  return {
    prepare: (state) =>
      draft.effect('prepare-lease', () => {
        const stores = state.lease === 'file' ? [FILE] : state.stores.map(({ id }) => id);
        const { stateId, schema } = state;
        const empty = { stateId, epoch: 0, activation: null, release: null, stateSchema: schema, nonce: null };
        const fresh = Object.fromEntries(stores.map((store) => [store, empty]));
        draft.change({ [state.lease]: { ...fresh, ...placeOf(state) } });
        return ok(placeOf(state));
      }),
    read: async (state) => (Object.keys(placeOf(state)).length === 0 ? absent : seen(placeOf(state))),
    writeNonce: (state, nonce) =>
      draft.effect('write-nonce', () => {
        const rows = Object.entries(placeOf(state)).map(([store, row]) => [store, { ...row, nonce }]);
        draft.change({ [state.lease]: Object.fromEntries(rows) });
        return ok('written' as const);
      }),
    // The stores of one move are moved in one step: between them stands no choice of the decisions.
    swap: (state, { from, to }) =>
      draft.effect('swap', () => {
        const { release, stateSchema, epoch, activation } = to;
        const rows = Object.entries(placeOf(state));
        const stands = (row: LeaseRow, at: typeof from): boolean =>
          row.epoch === at.epoch && row.activation === at.activation;
        if (rows.some(([, row]) => ![from, to].some((at) => stands(row, at)))) {
          return { kind: 'differs' as const, rows: placeOf(state) };
        }
        for (const [store, row] of rows) {
          if (!stands(row, to)) set(state, store, { ...row, epoch, activation, release, stateSchema });
        }
        return { kind: 'swapped' as const };
      }),
    sync: () => draft.effect('sync', () => ok('durable' as const)),
    readClaim: async () => (draft.world.claim === null ? absent : seen(draft.world.claim)),
    writeClaim: (_state, claim, _over) =>
      draft.effect('write-claim', () => {
        draft.change({ claim });
        return ok('written' as const);
      }),
  };
}
