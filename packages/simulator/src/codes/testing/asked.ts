import { type Command, RECEIPT_LIMIT, type Withdrawal } from '@idunn/authority';
import { CALM } from '../../scenario.ts';
import type { Simulation } from '../../simulation.ts';
import { pause } from '../../world/pause.ts';
import { refOf } from '../../world/sources.ts';
import { holderOf } from '../../world/who.ts';
import type { Hearing } from './hearing.ts';

/** A world of one target, and somebody who asks it things. */
interface Asking {
  readonly simulation: Simulation;
  readonly submit: (command: Asked) => Promise<string>;
  /** Deploys and waits for the end. */
  readonly deploy: (operationId: string, revision: number) => Promise<void>;
  readonly look: () => Promise<void>;
}

type Asked =
  | (Pick<Command, 'kind'> & { readonly target?: string; readonly operationId: string; readonly ref?: string })
  | Pick<Withdrawal, 'kind' | 'operationId' | 'transaction'>;

/** What only somebody who asks comes to, or a world in which a thing lasts for longer than a scenario. */
export async function askAll(hearing: Hearing): Promise<void> {
  for (const course of [refusals, uncertain, receipts, unread, lapsed, unjudged, foreign, overdue, yielded]) {
    const asking = begun(hearing, course === uncertain ? 1 : 0);
    await course(asking);
    hearing.told(asking.simulation);
  }
}

function begun(hearing: Hearing, uncertainChance: number): Asking {
  const shapes = { app: { stores: 1, routed: true } };
  const simulation = hearing.simulation({ ...CALM, seed: 5, shapes, deploys: [], queueDepth: 1, uncertainChance });
  simulation.begin();
  const submit = async (command: Asked): Promise<string> => {
    const whole = { actor: 'ada', tenant: 'local', target: 'app', ref: null, ...command } as Command | Withdrawal;
    const taken = await simulation.ask((engine) => engine.submit(whole));
    hearing.hear(taken);
    return taken.ok ? taken.value.transaction : 'none';
  };
  return {
    simulation,
    submit,
    deploy: async (operationId, revision) => {
      await simulation.resultOf(await submit({ kind: 'up', operationId, ref: refOf('good', revision) }));
    },
    look: async () => hearing.hear(await simulation.ask((engine) => engine.target('app'))),
  };
}

async function refusals({ simulation, submit, deploy }: Asking): Promise<void> {
  await submit({ kind: 'restart', operationId: 'op-1' });
  await submit({ kind: 'up', operationId: 'op-1', target: 'nobody' });
  await deploy('op-2', 1);
  const ended = await submit({ kind: 'up', operationId: 'op-2', ref: refOf('good', 1) });
  await submit({ kind: 'up', operationId: 'op-2', ref: refOf('good', 2) });
  await submit({ kind: 'cancel', operationId: 'op-3', transaction: ended });
  await submit({ kind: 'expire', operationId: 'op-4', transaction: ended });
  await submit({ kind: 'cancel', operationId: 'op-5', transaction: 'tx-nobody' });
  simulation.kill('app');
  await simulation.pass(10);
  const restart = simulation.told.findLast((event) => event.event === 'phase');
  await submit({ kind: 'cancel', operationId: 'op-7', transaction: restart?.transaction ?? 'none' });
  for (const operationId of ['op-8', 'op-9', 'op-a', 'op-b']) await submit({ kind: 'up', operationId });
}

/** A store of which nobody knows whether it has written. */
async function uncertain({ submit }: Asking): Promise<void> {
  for (const operationId of ['op-1', 'op-2', 'op-3', 'op-4']) await submit({ kind: 'restart', operationId });
  for (const operationId of ['op-5', 'op-6', 'op-7', 'op-8']) await submit({ kind: 'up', operationId });
}

/** Every receipt that is kept, and one that is older than all of them. */
async function receipts({ submit, deploy }: Asking): Promise<void> {
  for (let next = 0; next <= RECEIPT_LIMIT; next += 1) await deploy(`op-${1_000 + next}`, 1);
  await submit({ kind: 'up', operationId: 'op-0' });
}

async function unread({ simulation, deploy, look }: Asking): Promise<void> {
  const { world } = simulation;
  await deploy('op-1', 1);
  for (const what of ['process', 'lease', 'route']) world.unreadable.add(`${what} app`);
  world.stop('freeze', 'app', 'unreadable');
  world.stop('hold', 'app', 'unreadable');
  await look();
}

/** What is admitted does not speak to the observer that is back. */
async function unjudged({ simulation, deploy, look }: Asking): Promise<void> {
  await deploy('op', 1);
  simulation.observer(false);
  const holder = holderOf(simulation.world, 'app');
  if (holder !== undefined) pause(simulation.world, holder, 60_000);
  simulation.observer(true);
  await simulation.pass(40_000);
  await look();
}

async function lapsed({ simulation, deploy, look }: Asking): Promise<void> {
  await deploy('op-1', 1);
  const holder = holderOf(simulation.world, 'app');
  if (holder !== undefined) pause(simulation.world, holder, 700_000);
  await simulation.pass(650_000);
  await look();
}

/** Somebody else has published under the name of what is admitted. */
async function foreign({ simulation, deploy, look }: Asking): Promise<void> {
  await deploy('op-1', 1);
  for (const projection of simulation.world.projections.values()) {
    const { activation } = projection;
    if (activation !== null) projection.activation = { ...activation, activation: 'act-foreign' };
  }
  simulation.kill('app');
  await simulation.pass(3_000);
  await look();
}

async function overdue({ simulation, deploy, look }: Asking): Promise<void> {
  await deploy('op-1', 1);
  simulation.world.mute = 'never-active';
  simulation.kill('app');
  await simulation.pass(20_000);
  await look();
}

async function yielded({ simulation, submit, deploy }: Asking): Promise<void> {
  await deploy('op-1', 1);
  simulation.world.mute = 'never-active';
  simulation.kill('app');
  await simulation.pass(500);
  simulation.world.mute = null;
  await simulation.resultOf(await submit({ kind: 'up', operationId: 'op-2', ref: refOf('good', 2) }));
}
