import { basename } from 'node:path';
import { type Facts, isTracked } from '../facts.ts';
import type { Launch, Word } from '../model.ts';

/** Words of a command line that stand for what Idunn fills in. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  '{port}': 'endpoint-port',
  '{host}': 'endpoint-host',
  '{state}': 'state-path:data',
  '{state-root}': 'state-root',
};

export const slotOf = (word: string): Word => {
  const slot = PLACEHOLDERS[word];
  return slot === undefined ? word : { slot };
};

/** A placeholder inside a longer word, which cannot be filled; `null` when there is none. */
export const buriedPlaceholder = (words: readonly string[]): string | null =>
  words.find((word) => Object.keys(PLACEHOLDERS).some((name) => word.includes(name) && word !== name)) ?? null;

/** "A program that I start like this": an interpreter and a committed file, or a committed file that is executable. */
export function fromWords(facts: Facts, words: readonly string[]): Launch | null {
  const [program = '', file = '', ...rest] = words;
  const because = `you start it with ${words.join(' ')}`;
  const common = { kind: 'words', name: '', steps: [], variables: [], files: [], doubts: [] } as const;
  const own = inTree(facts, program);
  if (own !== null) {
    return {
      ...common,
      artifacts: [{ id: 'app', path: '.', kind: 'directory' }],
      service: { artifact: 'app', path: own, interpreter: null },
      args: words.slice(1).map(slotOf),
      guesses: [{ what: `${own} is executed as it is committed`, because }],
    };
  }
  const entry = inTree(facts, file);
  if (entry === null || program.includes('/')) return null;
  const name = /^python(?:3(?:\.\d+)?)?$/.test(program) ? 'python3' : basename(program);
  return {
    ...common,
    artifacts: [{ id: 'app', path: '.', kind: 'directory' }],
    service: { artifact: 'app', path: entry, interpreter: name },
    args: rest.map(slotOf),
    guesses: [{ what: `${name} runs ${entry}`, because }],
  };
}

/** A word as the path of a committed file; `null` when it is none. */
function inTree(facts: Facts, word: string): string | null {
  const path = word.replace(/^\.\//, '');
  return path !== '' && isTracked(facts, path) ? path : null;
}
