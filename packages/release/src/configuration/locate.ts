import { type AST, parseTOML } from 'toml-eslint-parser';
import type { Path } from './path.ts';

interface Position {
  readonly line: number;
  readonly column: number;
}

/** As a tree, because paths written out would take their length once for every key below them. */
interface Known {
  position: Position | null;
  readonly below: Map<string | number, Known>;
}

const nothing = (): Known => ({ position: null, below: new Map() });

/** Where each value of a *valid* TOML text is written: at its key, or at the element for array elements. */
export function locate(text: string): (path: Path) => Position {
  const root = nothing();
  const note = (path: Path, node: AST.TOMLNode): void => {
    let known = root;
    for (const part of path) {
      const next = known.below.get(part) ?? nothing();
      known.below.set(part, next);
      known = next;
    }
    known.position ??= { line: node.loc.start.line, column: node.loc.start.column + 1 };
  };

  const walkKeyValue = (base: Path, pair: AST.TOMLKeyValue): void => {
    let path = base;
    for (const part of pair.key.keys) {
      path = [...path, part.type === 'TOMLBare' ? part.name : part.value];
      note(path, part);
    }
    walkContent(path, pair.value);
  };
  const walkContent = (path: Path, node: AST.TOMLContentNode): void => {
    switch (node.type) {
      case 'TOMLInlineTable':
        for (const pair of node.body) walkKeyValue(path, pair);
        return;
      case 'TOMLArray':
        node.elements.forEach((element, index) => {
          note([...path, index], element);
          walkContent([...path, index], element);
        });
        return;
      case 'TOMLValue':
        return;
    }
  };

  // Both parsers accept TOML 1.1, so what the first one parsed the second one can place.
  for (const node of parseTOML(text, { tomlVersion: '1.1' }).body[0].body) {
    if (node.type === 'TOMLKeyValue') {
      walkKeyValue([], node);
      continue;
    }
    node.resolvedKey.forEach((_, index) => {
      note(node.resolvedKey.slice(0, index + 1), node.key);
    });
    for (const pair of node.body) walkKeyValue(node.resolvedKey, pair);
  }
  return (path) => nearest(root, path);
}

function nearest(root: Known, path: Path): Position {
  let position: Position = { line: 1, column: 1 };
  let known: Known | undefined = root;
  for (const part of path) {
    known = known.below.get(part);
    if (known === undefined) break;
    position = known.position ?? position;
  }
  return position;
}
