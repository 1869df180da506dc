import { setTimeout as pause } from 'node:timers/promises';
import type { Status, TargetStatus } from '@idunn/client';
import { ask } from '../../../tests/e2e/lib/world.ts';
import type { Deeds } from './deeds.ts';
import type { Orders } from './orders.ts';
import { found, signal } from './processes.ts';
import { isSpoilt, TARGETS, type Target } from './schedule.ts';
import type { Stage } from './stage.ts';

/** Once nothing is done to the fleet any more: everything that was ordered has its outcome by then. */
const OUTCOMES_MS = 120_000;
/** What is deployed then is admitted and healthy by then. */
const HEALTHY_MS = 60_000;
const LOOK_MS = 100;

export interface Settled {
  readonly tookMs: number;
  /** Orders that never came to an outcome, or that are not known any more. */
  readonly open: readonly string[];
  /** Targets whose last good deployment was not admitted, or that are not healthy, with what they say. */
  readonly unsettled: readonly string[];
  /** Where status and what really runs differ. */
  readonly untrue: readonly string[];
  /** Processes beside those that a calm fleet has. */
  readonly surplus: readonly string[];
  readonly outcomes: Readonly<Record<string, number>>;
  /** Orders that admitted a build that may not live. */
  readonly spoilt: readonly string[];
}

/** Ends all that was done to the fleet, and sees that it comes to rest by itself. */
export async function settle(stage: Stage, deeds: Deeds, orders: Orders): Promise<Settled> {
  const begun = performance.now();
  await release(stage);
  const open = await openOrders(stage, orders);
  const last = await Promise.all(TARGETS.map((target) => deeds.deploy(target, 'good')));
  const unsettled = await unsettledTargets(stage, last);
  return {
    tookMs: performance.now() - begun,
    open,
    unsettled,
    untrue: await untruths(stage),
    surplus: await surplus(stage),
    ...(await ended(stage, orders)),
  };
}

async function release({ fleet }: Stage): Promise<void> {
  for (const { pid } of found(fleet)) signal(pid, 'SIGCONT');
  for (const kind of ['freeze', 'hold']) {
    for (const target of TARGETS) {
      const cleared = await fleet.idunn(kind, 'clear', target);
      if (cleared.code !== 0) throw new Error(`the ${kind} of ${target} was not cleared: ${cleared.err}`);
    }
  }
}

/** Asks until each is null or the time is over; answers the last words. */
async function until(limitMs: number, look: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const left = await look();
    if (left.length === 0 || performance.now() > deadline) return left;
    await pause(LOOK_MS);
  }
}

const openOrders = ({ fleet }: Stage, { given }: Orders): Promise<readonly string[]> => {
  const waiting = new Set(given.map(({ transaction }) => transaction));
  return until(OUTCOMES_MS, async () => {
    const words: string[] = [];
    for (const transaction of waiting) {
      const answer = await fleet.client.transaction(transaction);
      if (answer.ok && answer.value.result !== null) waiting.delete(transaction);
      else words.push(`${transaction}: ${answer.ok ? JSON.stringify(answer.value) : answer.refusal.code}`);
    }
    return words;
  });
};

/** What became of the orders, and which of them admitted a build that may not live. */
async function ended(stage: Stage, { given }: Orders): Promise<Pick<Settled, 'outcomes' | 'spoilt'>> {
  const outcomes: Record<string, number> = {};
  const spoilt: string[] = [];
  for (const transaction of new Set(given.map((one) => one.transaction))) {
    const answer = await stage.fleet.client.transaction(transaction);
    if (!answer.ok) continue;
    const { target, revision, result } = answer.value;
    const outcome = result?.outcome ?? 'open';
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const build = stage.buildAt(revision ?? '', target as Target);
    if (outcome === 'admitted' && build !== undefined && isSpoilt(build)) spoilt.push(`${transaction}: ${build}`);
  }
  return { outcomes, spoilt };
}

const isSettled = (target: TargetStatus): boolean =>
  target.transaction === null &&
  target.queued.length === 0 &&
  target.freezes.length === 0 &&
  target.hold === null &&
  // Many restarts within an hour stay told for that hour: that is the truth.
  target.incidents.every(({ code }) => code === 'restarted-too-often') &&
  target.incarnations.every(({ role }) => role === 'admitted') &&
  (target.health === 'healthy' || target.incidents.length > 0);

const unsettledTargets = ({ fleet }: Stage, last: readonly (string | null)[]): Promise<readonly string[]> =>
  until(HEALTHY_MS, async () => {
    const words: string[] = [];
    for (const [index, transaction] of last.entries()) {
      const answer = transaction === null ? null : await fleet.client.transaction(transaction);
      const outcome = answer?.ok ? answer.value.result?.outcome : 'not taken';
      if (outcome !== 'admitted') words.push(`${TARGETS[index]}: ${transaction} ${outcome} ${JSON.stringify(answer)}`);
    }
    const status = await statusOf(fleet);
    if (status === null) return [...words, 'nobody answers'];
    return [...words, ...status.targets.filter((target) => !isSettled(target)).map((target) => JSON.stringify(target))];
  });

async function statusOf(fleet: Stage['fleet']): Promise<Status | null> {
  const answer = await fleet.client.status();
  return answer.ok ? answer.value : null;
}

/** I4: what status says of each target, held against what answers on its port and what the machine runs. */
async function untruths({ fleet, ports }: Stage): Promise<readonly string[]> {
  const status = await statusOf(fleet);
  if (status === null) return ['nobody answers'];
  const words: string[] = [];
  for (const target of TARGETS) {
    const said = status.targets.find((one) => one.target === target);
    const path = target === 'ghostlight' ? '/version' : '/';
    const { body } = await ask(`http://127.0.0.1:${ports[target]}`, path);
    const real = JSON.parse(body) as { pid: number; activation?: string; epoch?: number; revision?: string };
    const processes = found(fleet).flatMap(({ role, pid }) => (role === target ? [pid] : []));
    const told = said?.admitted?.processes.map(({ pid }) => pid);
    const differs = (what: string, one: unknown, other: unknown): void => {
      if (String(one) !== String(other)) words.push(`${target}: ${what} ${String(one)}, in truth ${String(other)}`);
    };
    differs('process', told, real.pid);
    differs('processes', told, processes);
    if (target !== 'ghostlight') continue;
    differs('activation', said?.admitted?.activation, real.activation);
    differs('holder of the lease', said?.lease?.activation, real.activation);
    differs('epoch', said?.lease?.epoch, real.epoch);
    differs('revision', said?.admitted?.revision, real.revision);
  }
  return words;
}

/** A calm fleet runs one process of each role, and nothing else. */
const surplus = ({ fleet }: Stage): Promise<readonly string[]> =>
  until(HEALTHY_MS, async () => {
    const roles = Map.groupBy(found(fleet), ({ role }) => role);
    return [...roles].flatMap(([role, all]) =>
      role === 'other' || role === 'launcher' || all.length > 1 ? [`${role} ${all.map(({ pid }) => pid).join()}`] : [],
    );
  });
