import type { MintRequest, WorkloadPort } from '@idunn/authority';
import { absent, ok, refusal, refused, seen } from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import { behaviourOf, digestOf, sealedFor } from '../world/sources.ts';
import { added, type Draft } from './draft.ts';
import type { Sources } from './kinds.ts';
import { handleOf, named, observedOf, type Program } from './world.ts';

/** Starts, finds, observes and stops the programs of a draft; one launch for each activation, ever. */
export function smallWorkload(draft: Draft, sources: Sources): WorkloadPort {
  return {
    mint: (request) =>
      draft.effect('mint', () => {
        const { activation } = request;
        const made = draft.world.minted[activation] ?? minted(request);
        draft.change({ minted: { ...draft.world.minted, [activation]: made } });
        return ok(made);
      }),
    start: ({ activation, release, state, start }) =>
      draft.effect('start', () => {
        const id = activation.activation;
        const known = draft.world.programs[id];
        if (known?.alive === true) return ok(handleOf(known));
        if (known !== undefined || draft.world.spent.includes(id)) {
          return refused(refusal('activation-spent', `${id} was started before.`));
        }
        const program = launched(sources, activation, release, state?.schema ?? null, start === 'gated');
        draft.change({ programs: { ...draft.world.programs, [id]: program } });
        const { executable, sealed } = program;
        draft.deeds.push({ kind: 'started', activation: id, executable, sealed, beside: besides(draft, id) });
        return ok(handleOf(program));
      }),
    rehearse: ({ release }) =>
      draft.effect('rehearse', () => {
        draft.change({ rehearsed: added(draft.world.rehearsed, release) });
        return ok('passed' as const);
      }),
    find: async (_target, activation) => {
      const program = draft.world.programs[activation];
      return program?.alive === true ? seen(handleOf(program)) : absent;
    },
    running: async () =>
      seen(
        Object.values(draft.world.programs)
          .filter(({ alive }) => alive)
          .map(({ activation: { activation } }) => ({ activation, pid: null })),
      ),
    observe: async ({ activation }) => {
      const program = draft.world.programs[activation];
      return program?.alive === true ? seen(observedOf(program)) : absent;
    },
    stop: ({ activation }) =>
      draft.effect('stop', () => {
        if (draft.world.programs[activation]?.alive === true) draft.end(activation, true);
        return { kind: 'gone' as const, proof: 'tree-empty' as const, forced: false };
      }),
    retire: (_target, activation) =>
      draft.effect('retire', () => draft.change({ spent: added(draft.world.spent, activation) })),
    lastExit: async () => null,
    logTail: async () => [],
    watch: ({ activation }) => {
      draft.hold('watched', activation);
      if (draft.world.programs[activation]?.alive === true) return;
      draft.hands = { ...draft.hands, notices: added(draft.hands.notices, activation) };
    },
    subscribe: () => undefined,
  };
}

function minted({ activation, incarnation, expected, launch }: MintRequest): Activation {
  const key = digestOf(activation).slice(7, 39);
  const port = (launch.endpoint?.fromPort ?? 0) + Number(activation.slice(activation.indexOf('-') + 1));
  return {
    schema: 'idunn.activation/v1',
    activation,
    incarnation,
    target: expected.target,
    publicKey: Buffer.from(key).toString('base64'),
    keyId: `ed25519:${key}`,
    endpoint: launch.endpoint === null ? null : { host: launch.endpoint.host, port },
  };
}

function launched(
  { plans }: Sources,
  activation: Activation,
  release: string,
  schema: string | null,
  isGated: boolean,
): Program {
  const made = [...plans].find(([, plan]) => sealedFor(plan).release === release);
  if (made === undefined) throw new Error(`no release ${release} was sealed`);
  const [ref, plan] = made;
  const sealed = sealedFor(plan).executableDigest;
  return {
    activation,
    executable: behaviourOf(ref) === 'other-binary' ? digestOf('another binary') : sealed,
    sealed,
    schema,
    gate: isGated ? 'waiting' : 'none',
    stray: behaviourOf(ref) === 'own-database',
    alive: true,
    said: null,
    granted: null,
    relinquished: null,
    echoed: null,
  };
}

/** Programs that run beside one: a launcher at its gate is none yet. */
const besides = ({ world }: Draft, id: string): readonly string[] =>
  Object.values(world.programs)
    .filter(({ activation, alive, gate }) => alive && gate !== 'waiting' && activation.activation !== id)
    .map(({ activation }) => activation.activation);

/** What one program may do of its own accord next, each by its name. */
export function movesOf(program: Program): readonly { readonly name: string; readonly move: (draft: Draft) => void }[] {
  const { activation, alive, said, granted, gate, schema, relinquished } = program;
  const id = activation.activation;
  if (!alive) return [];
  if (said === null) return [{ name: 'warms', move: (draft) => say(draft, id, 'warming') }];
  const moves = [];
  if (gate === 'waiting' && granted !== null) {
    moves.push({ name: 'becomes its program', move: (draft: Draft) => passGate(draft, id) });
  }
  const mayServe = schema === null ? said.state === 'warming' : granted !== null && gate !== 'waiting';
  if (mayServe && !(said.state === 'active' && said.epoch === (schema === null ? null : granted))) {
    moves.push({ name: 'is active', move: (draft: Draft) => say(draft, id, 'active') });
  }
  // The term of a handover that was not made is over.
  if (relinquished !== null) {
    moves.push({ name: 'goes on', move: (draft: Draft) => draft.program(id, { relinquished: null }) });
  }
  return moves;
}

function say(draft: Draft, id: string, state: 'warming' | 'active'): void {
  const { said, granted } = draft.world.programs[id] ?? { said: null, granted: null };
  const sequence = (said?.sequence ?? 0) + 1;
  draft.program(id, { said: { state, epoch: state === 'active' ? granted : null, sequence } });
}

/** The launcher becomes the program, which writes as soon as it runs and compares no row. */
function passGate(draft: Draft, id: string): void {
  const { executable, sealed } = draft.world.programs[id] ?? { executable: '', sealed: '' };
  draft.program(id, { gate: 'passed' });
  const beside = besides(draft, id).filter((other) => {
    const program = draft.world.programs[other];
    return program !== undefined && (program.gate === 'passed' || program.granted !== null);
  });
  const isNamed = named(draft.world)?.activation === id;
  draft.deeds.push({ kind: 'ran', activation: id, granted: isNamed, executable, sealed, beside });
}
