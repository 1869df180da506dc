import { type Digest, digestBytes, type Outcome, ok } from '@idunn/kernel';
import { type Document, isFault, parseDocument } from '../configuration/document.ts';
import { refusedFaults } from '../configuration/fault.ts';
import { unsupportedFaults } from '../configuration/features.ts';
import { parseSections } from '../configuration/sections.ts';
import { checkRecipe } from './checks.ts';
import { type Recipe, recipeShape } from './schema.ts';
import { unsupportedInRecipe } from './unsupported.ts';

/** A valid recipe, with the file it came from for faults that show up later. */
export interface RecipeDocument {
  readonly recipe: Recipe;
  readonly document: Document;
  /** SHA-256 over the exact bytes. */
  readonly digest: Digest;
}

/** Parses a recipe; refused with every fault at once. `file` is the name that faults show. */
export function parseRecipe(text: string, file: string): Outcome<RecipeDocument> {
  const document = parseDocument(text, file);
  if (isFault(document)) return refusedFaults([document]);
  const { sections, faults } = parseSections(recipeShape, document);
  const all = [...faults, ...unsupportedFaults(document, unsupportedInRecipe), ...checkRecipe(document, sections)];
  if (all.length > 0) return refusedFaults(all);
  return ok({ recipe: sections as Recipe, document, digest: digestBytes(text) });
}
