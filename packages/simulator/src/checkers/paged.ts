import { isOf } from './continuity.ts';
import type { Judged, Violation } from './judged.ts';
import { forgottenDeeds } from './restored.ts';

/** Charged attempts within an hour that page. */
const CHARGED_LIMIT = 6;
const CHARGED_SPAN_MS = 3_600_000;

/**
 * I9: many failures page; before an attempt that follows as many within an hour, somebody was told. What was admitted
 * and is down for longer than any deployment may take is an open incident.
 */
export const paged = (judged: Judged): readonly Violation[] =>
  Object.keys(judged.shapes).flatMap((target) => [...unpaged(judged, target), ...untold(judged, target)]);

function unpaged({ world, scenario }: Judged, target: string): readonly Violation[] {
  const { deploys, orders, reboots, strikes = [] } = scenario;
  const own = deploys.filter((deploy) => deploy.target === target);
  // The operator's restarts, and those that a reboot asks for, are charged to nobody.
  if (own.length !== 1 || orders.length > 0 || reboots.length > 0 || strikes.length > 0) return [];
  // Those that went with the records are charged to nobody either.
  const lost = forgottenDeeds(world);
  let admitted = false;
  let told = false;
  const attemptsMs: number[] = [];
  return world.ledger.entries.flatMap((entry): Violation[] => {
    if (entry.kind === 'told-incident' && entry.target === target && entry.code === 'restarted-too-often') {
      told = entry.open;
    }
    if (!isOf(world, entry, target)) return [];
    if (entry.kind === 'told-admitted') admitted = true;
    if (entry.kind !== 'started' || !admitted || lost.has(entry)) return [];
    attemptsMs.push(entry.atMs);
    const recent = attemptsMs.filter((atMs) => entry.atMs - atMs < CHARGED_SPAN_MS).length - 1;
    if (recent < CHARGED_LIMIT || told) return [];
    return [{ of: 'I9', atMs: entry.atMs, detail: `${target} was restarted ${recent} times before, and nobody told` }];
  });
}

/** Longer than a deployment is between its fence and its deadline, and than an incident takes to open. */
const UNTOLD_MS = 12_000;

function untold({ world, scenario }: Judged, target: string): readonly Violation[] {
  // While the whole machine sleeps nobody tells anything.
  const oddFaults = [...(scenario.oddities ?? []), ...(scenario.strikes ?? [])].map(({ fault }) => fault);
  if (oddFaults.includes('machine-suspended')) return [];
  const open = new Set<string>();
  const lost = forgottenDeeds(world);
  let living = 0;
  let admitted = false;
  let downSinceMs: number | null = null;
  return world.ledger.entries.flatMap((entry): Violation[] => {
    const untoldMs = downSinceMs === null ? 0 : entry.atMs - downSinceMs;
    if (entry.kind === 'told-incident' && entry.target === target) {
      if (entry.open) open.add(entry.code);
      else open.delete(entry.code);
    }
    if (isOf(world, entry, target)) {
      if (entry.kind === 'told-admitted' && !lost.has(entry)) admitted = true;
      if (entry.kind === 'started') living += 1;
      if (entry.kind === 'ended') living -= 1;
    }
    const isDown = admitted && living === 0 && open.size === 0;
    downSinceMs = isDown && entry.kind !== 'crash' ? (downSinceMs ?? entry.atMs) : null;
    if (untoldMs <= UNTOLD_MS) return [];
    return [{ of: 'I9', atMs: entry.atMs, detail: `${target} was down for ${untoldMs} ms, and nobody told` }];
  });
}
