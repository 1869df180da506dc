import { type Outcome, ok } from '@idunn/kernel';
import { type Document, faultAt, isFault, parseDocument } from '../configuration/document.ts';
import { type Fault, refusedFaults } from '../configuration/fault.ts';
import { type Unsupported, unsupportedFaults } from '../configuration/features.ts';
import { parseSections, type Sections } from '../configuration/sections.ts';
import { type FleetFile, type FleetShape, fleetShape } from './schema.ts';

export interface FleetDocument {
  readonly fleet: FleetFile;
  readonly document: Document;
}

const unsupportedInFleet: readonly Unsupported[] = [
  { at: ['profiles', '*', 'placement'], feature: 'placements of profiles' },
];

/** Parses fleet.toml; refused with every fault at once. `file` is the name that faults show. */
export function parseFleet(text: string, file: string): Outcome<FleetDocument> {
  const document = parseDocument(text, file);
  if (isFault(document)) return refusedFaults([document]);
  const { sections, faults } = parseSections(fleetShape, document);
  const all = [...faults, ...unsupportedFaults(document, unsupportedInFleet), ...checkPorts(document, sections)];
  if (all.length > 0) return refusedFaults(all);
  return ok({ fleet: sections as FleetFile, document });
}

function checkPorts(document: Document, { ports }: Sections<FleetShape>): Fault[] {
  if (ports === undefined || ports.from < ports.to) return [];
  const related = document.place(['ports', 'from']);
  return [faultAt(document, ['ports', 'to'], 'invalid-value', 'ports.to: it must be above ports.from', related)];
}
