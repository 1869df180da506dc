import { evidence, type Facts, placeOf, sources } from '../facts.ts';
import type { Capability, Guess, Store } from '../model.ts';

/** What an embedded program says of itself in its sources, in the words of the workload package. */
export interface Contract {
  readonly stores: readonly Store[];
  /** `null` where the sources name none. */
  readonly schema: string | null;
  readonly capabilities: readonly Capability[];
  readonly guesses: readonly Guess[];
}

const OPENED = /\bidunn\.(store|path)\(\s*["']([a-z0-9-]{1,63})["']/g;
const SCHEMA = /\bstateSchema:\s*["']([\w./-]+)["']/;
const CAPABILITIES = /\bcapabilities:\s*\[([^\]]*)\]/;
const CAPABILITY = /name:\s*["']([\w./-]+)["'],\s*schema:\s*["']([\w./-]+)["']/g;

/** Stores by the ids under which they are opened, the state schema, and the capabilities that it will claim. */
export function guessContract(facts: Facts): Contract {
  const texts = sources(facts);
  const opened = new Map<string, { readonly store: Store; readonly where: string }>();
  for (const { path, text } of texts) {
    for (const { 1: call, 2: id = '', index } of text.matchAll(OPENED)) {
      const store: Store =
        call === 'store' ? { id, kind: 'sqlite', path: `${id}.db` } : { id, kind: 'files', path: id };
      if (!opened.has(id)) opened.set(id, { store, where: placeOf(path, text, index) });
    }
  }
  const schema = evidence(texts, SCHEMA);
  const claimed = evidence(texts, CAPABILITIES);
  const capabilities = [...(claimed?.match[1] ?? '').matchAll(CAPABILITY)].map(([, name = '', of = '']) => ({
    name,
    schema: of,
  }));
  return {
    stores: [...opened.values()].map(({ store }) => store),
    schema: schema?.match[1] ?? null,
    capabilities,
    guesses: [
      ...[...opened.values()].map(({ store: { id, kind, path }, where }) => ({
        what: `its store ${id} is ${kind === 'sqlite' ? 'a SQLite file' : 'a directory'}, ${path}`,
        because: `${where} opens it`,
      })),
      ...(schema === null
        ? []
        : [{ what: `its state has the schema ${schema.match[1]}`, because: `${schema.where} names it` }]),
      ...capabilities.map(({ name, schema: of }) => ({
        what: `it provides ${name} (${of})`,
        because: `${claimed?.where ?? 'a source'} claims it`,
      })),
    ],
  };
}
