import { dirname } from 'node:path';
import type { DataPlace, PlacesFile } from './schema.ts';

/** Two slots whose data is, or lies in, one place: a copy from one to the other would replace its own source. */
export interface SharedData {
  readonly slot: string;
  readonly other: string;
}

/** Every slot whose data an earlier one has already. What a load makes beside the data counts as the data itself. */
export function sharedData(slots: PlacesFile['slots']): readonly SharedData[] {
  const placed = Object.entries(slots).flatMap(([slot, { data }]) =>
    data === undefined ? [] : [{ slot, claims: claimsOf(data) }],
  );
  return placed.flatMap(({ slot, claims }, index) => {
    const other = placed.slice(0, index).find((earlier) => meet(earlier.claims, claims));
    return other === undefined ? [] : [{ slot, other: other.slot }];
  });
}

/** Names that are the data's or that a load makes and removes, each with what it lies in. */
function claimsOf(data: DataPlace): readonly (readonly string[])[] {
  const beside = data.kind === 'sqlite' ? ['', '.incoming'] : ['', '.incoming', '.previous'];
  if (data.kind !== 'postgres') return beside.map((suffix) => upward(`${data.path}${suffix}`));
  const server = `${data.host.toLowerCase()}:${data.port}`;
  return ['', '_incoming', '_previous'].map((suffix) => [`${server}/${data.database}${suffix}`]);
}

/** A path and every directory above it. */
function upward(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...upward(above)];
}

/** Whether a claim of one is a claim of the other, or lies in it. */
const meet = (these: readonly (readonly string[])[], those: readonly (readonly string[])[]): boolean =>
  these.some((one) => those.some((other) => one.includes(other[0] ?? '') || other.includes(one[0] ?? '')));
