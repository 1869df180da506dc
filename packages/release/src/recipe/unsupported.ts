import { isNot, type Unsupported } from '../configuration/features.ts';

/** What a recipe can ask for and this version does not act on yet. */
export const unsupportedInRecipe: readonly Unsupported[] = [
  { at: ['static_release'], feature: 'static releases' },
  { at: ['state', 'store', '*', 'kind'], when: isNot('sqlite', 'files'), feature: 'stores in PostgreSQL' },
  { at: ['migration', '*'], feature: 'migrations' },
  { at: ['dependency', '*'], feature: 'capability dependencies' },
  { at: ['ordering'], feature: 'startup ordering' },
  { at: ['conflicts', '*'], feature: 'conflicts' },
  { at: ['capacity', 'cpu_millis'], feature: 'minimum CPU capacity' },
  { at: ['capacity', 'disk_bytes'], feature: 'minimum disk capacity' },
];
