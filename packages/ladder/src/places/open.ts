import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Clock, type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { AppData } from '../data/app-data.ts';
import type { Ladder, Slot } from '../ladder/model.ts';
import { parseLadder } from '../ladder/parse.ts';
import type { ReleaseOperations } from '../operations/port.ts';
import { createRegistry, loadOver, type SlotRegistry } from '../registry/registry.ts';
import { dataAt } from './data.ts';
import { parsePlaces } from './parse.ts';
import type { FleetPlace, PlacesFile, RunsPlace } from './schema.ts';

export interface PlacesOptions {
  /** The ladder file. */
  readonly ladder: string;
  /** The places file; `null` for what needs none. */
  readonly places: string | null;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Operations over a fleet of Idunn; left out where there is no such driver. */
  readonly fleets?: (place: FleetPlace) => Promise<Outcome<ReleaseOperations>>;
}

/** A ladder with what runs its slots and where their data is. */
export interface OpenLadder {
  readonly registry: SlotRegistry;
  /** True when a baseline of its own holds the guard up; else the ladder file is all there is. */
  readonly hasBaseline: boolean;
  /** The audit log; `null` without a places file, and then nothing may be changed. */
  readonly audit: string | null;
  /** Refused as `place-missing` when the places file does not say what runs the slot. Not guarded yet. */
  operations(slot: Slot): Promise<Outcome<ReleaseOperations>>;
  data(slot: Slot): Promise<Outcome<AppData>>;
}

/** Reads both files and whatever they name; connects to nothing until operations or data are asked for. */
export async function openLadder(options: PlacesOptions): Promise<Outcome<OpenLadder>> {
  const ladder = await readLadder(options.ladder);
  if (!ladder.ok) return ladder;
  const places = options.places === null ? ok(null) : await readPlaces(options.places, ladder.value);
  if (!places.ok) return places;
  const baseline = places.value?.baseline;
  const registry = await registryOf(ladder.value, baseline, places.value?.demotions);
  if (!registry.ok) return registry;
  const made = new Map<string, Promise<Outcome<ReleaseOperations>>>();
  const place = (slot: Slot) => places.value?.slots[slot.name];

  const operations = (slot: Slot): Promise<Outcome<ReleaseOperations>> => {
    const runs = place(slot)?.runs;
    if (runs === undefined) return Promise.resolve(missing(slot, 'runs'));
    const known = made.get(slot.name) ?? connect(runs, options);
    made.set(slot.name, known);
    return known;
  };

  return ok({
    registry: registry.value,
    hasBaseline: baseline !== undefined,
    audit: places.value?.audit ?? null,
    operations,
    async data(slot) {
      const at = place(slot)?.data;
      if (at === undefined) return missing(slot, 'data');
      if (at.standstill !== 'sleep') return ok(dataAt(at, null));
      const running = await operations(slot);
      return running.ok ? ok(dataAt(at, running.value)) : running;
    },
  });
}

async function connect(runs: RunsPlace, options: PlacesOptions): Promise<Outcome<ReleaseOperations>> {
  switch (runs.kind) {
    case 'idunn': {
      if (options.fleets !== undefined) return options.fleets(runs);
      return refused(refusal('place-missing', `Nothing here operates the fleet ${runs.fleet}.`));
    }
    case 'kubernetes': {
      const kubeconfig = await readText(runs.kubeconfig);
      if (!kubeconfig.ok) return kubeconfig;
      const { connectCluster, kubernetesOperations } = await import('../kubernetes/index.ts');
      const { clock, timers } = options;
      const context = runs.context === undefined ? {} : { context: runs.context };
      const api = await connectCluster({ kubeconfig: kubeconfig.value, timers, ...context });
      if (!api.ok) return api;
      const ingress = runs.ingress_class === undefined ? {} : { ingressClass: runs.ingress_class };
      return ok(kubernetesOperations({ api: api.value, clock, timers, conflicts: runs.conflicts, ...ingress }));
    }
  }
}

async function registryOf(
  ladder: Ladder,
  baseline: string | undefined,
  demotions: PlacesFile['demotions'] | undefined,
): Promise<Outcome<SlotRegistry>> {
  if (baseline === undefined) return createRegistry(ladder.slots, ladder.meta);
  const floor = await readLadder(baseline);
  if (!floor.ok) return floor;
  const declared = createRegistry(floor.value.slots, floor.value.meta);
  return declared.ok ? loadOver(declared.value, ladder, demotions) : declared;
}

async function readLadder(file: string): Promise<Outcome<Ladder>> {
  const text = await readText(file);
  return text.ok ? parseLadder(text.value, file) : text;
}

/** The file with its paths made absolute. */
async function readPlaces(file: string, ladder: Ladder): Promise<Outcome<PlacesFile>> {
  const text = await readText(file);
  if (!text.ok) return text;
  return parsePlaces(text.value, file, ladder, (path) => realPath(resolve(dirname(file), path)));
}

/** Where a path leads, links followed as far as there is something. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

async function readText(file: string): Promise<Outcome<string>> {
  try {
    return ok(await readFile(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused(refusal('ladder-file-unreadable', `${file} cannot be read: ${why}.`));
  }
}

const missing = (slot: Slot, what: 'runs' | 'data'): Outcome<never> =>
  refused(refusal('place-missing', `The places file says no ${what} for ${slot.name}.`));
