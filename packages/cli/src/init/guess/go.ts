import { type Facts, textOf } from '../facts.ts';
import type { BuildStep, Launch } from '../model.ts';

const BUILD_MS = 900_000;
const TEST: BuildStep = { id: 'test', stage: 'test', argv: ['go', 'test', './...'], timeoutMs: BUILD_MS };

/** A program of Go, built to one file: the main package at the top, or the one in `cmd/`. `null` when it is none. */
export function guessGo(facts: Facts): Launch | null {
  const module = textOf(facts, 'go.mod');
  if (module === null) return null;
  const path = /^module\s+(\S+)/m.exec(module)?.[1] ?? '';
  const mains = facts.texts.filter(({ path: file, text }) => file.endsWith('.go') && /^package main\b/m.test(text));
  const directories = [
    ...new Set(mains.map(({ path: file }) => (file.includes('/') ? file.replace(/\/[^/]*$/, '') : '.'))),
  ];
  const [first] = directories.toSorted((a, b) => a.length - b.length);
  if (first === undefined) return null;
  const name = first === '.' ? (path.split('/').at(-1) ?? 'app') : (first.split('/').at(-1) ?? 'app');
  const from = first === '.' ? '.' : `./${first}`;
  return {
    kind: 'go',
    name,
    steps: [
      {
        id: 'build',
        stage: 'build',
        argv: ['go', 'build', '-trimpath', '-o', 'out/program', from],
        timeoutMs: BUILD_MS,
      },
      ...(facts.tracked.some((file) => file.endsWith('_test.go')) ? [TEST] : []),
    ],
    artifacts: [{ id: 'program', path: 'out/program', kind: 'file' }],
    service: { artifact: 'program', path: null, interpreter: null },
    args: [],
    variables: [],
    files: [],
    guesses: [
      { what: `go builds ${from} to one file, which is started`, because: `go.mod, and package main in ${first}` },
    ],
    doubts:
      directories.length > 1
        ? [
            {
              what: `there are several main packages: ${directories.join(', ')}`,
              remedy: 'Correct the last word of the step "build" if another one serves.',
            },
          ]
        : [],
  };
}
