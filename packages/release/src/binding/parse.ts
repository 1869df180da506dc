import { type Digest, digestBytes, type Outcome, ok } from '@idunn/kernel';
import { type Document, isFault, parseDocument } from '../configuration/document.ts';
import { refusedFaults } from '../configuration/fault.ts';
import { unsupportedFaults } from '../configuration/features.ts';
import { parseSections } from '../configuration/sections.ts';
import { checkBinding } from './checks.ts';
import { type Binding, bindingShape } from './schema.ts';
import { unsupportedInBinding } from './unsupported.ts';

/** A valid binding, with the file it came from for faults that show up later. */
export interface BindingDocument {
  readonly binding: Binding;
  readonly document: Document;
  /** SHA-256 over the exact bytes. */
  readonly digest: Digest;
}

/** Parses a binding; refused with every fault at once. `file` is the name that faults show. */
export function parseBinding(text: string, file: string): Outcome<BindingDocument> {
  const document = parseDocument(text, file);
  if (isFault(document)) return refusedFaults([document]);
  const { sections, faults } = parseSections(bindingShape, document);
  const all = [...faults, ...unsupportedFaults(document, unsupportedInBinding), ...checkBinding(document, sections)];
  if (all.length > 0) return refusedFaults(all);
  return ok({ binding: sections as Binding, document, digest: digestBytes(text) });
}
