import { evidence, type Facts, firstTracked, isTracked, type SourceText, sources, textOf } from '../facts.ts';
import type { BuildStep, Doubt, Guess, Launch, Variable, Word } from '../model.ts';
import { plainWords } from './plain-words.ts';

const ENTRIES = ['app.py', 'main.py', 'server.py', 'wsgi.py', 'run.py', '__main__.py', 'src/main.py', 'src/app.py'];
const INSTALL_MS = 600_000;

interface Entry {
  readonly artifact: 'app' | 'packages';
  readonly path: string;
  readonly args: readonly Word[];
  readonly guess: Guess;
  readonly doubts: readonly Doubt[];
}

/** A program of Python: Django, a WSGI application under gunicorn, or a file that is run. `null` when it is none. */
export function guessPython(facts: Facts): Launch | null {
  const requirements = firstTracked(facts, ['requirements.txt']);
  const needs = requirements === null ? [] : needed(textOf(facts, requirements) ?? '');
  const entry = entryOf(facts, needs);
  if (entry === null) return null;
  const steps: BuildStep[] = [];
  const guesses: Guess[] = [entry.guess];
  const doubts: Doubt[] = [...entry.doubts];
  const variables: Variable[] = [
    { name: 'PYTHONUNBUFFERED', value: '1', why: 'so that the log comes line by line' },
    { name: 'PYTHONDONTWRITEBYTECODE', value: '1', why: 'a sealed release is never written to' },
  ];
  if (entry.artifact === 'packages') {
    variables.push({ name: 'PORT', value: { slot: 'endpoint-port' }, why: 'where gunicorn listens' });
  }
  if (needs.length > 0) {
    steps.push({
      id: 'install',
      stage: 'build',
      argv: ['python3', '-m', 'pip', 'install', '--no-compile', '--target', 'packages', '-r', 'requirements.txt'],
      timeoutMs: INSTALL_MS,
    });
    variables.push({
      name: 'PYTHONPATH',
      value: { slot: 'artifact:packages' },
      why: 'what the step "install" brought',
    });
    guesses.push({
      what: 'pip brings the packages into packages/',
      because: `${requirements} names ${needs.join(', ')}`,
    });
  } else if (textOf(facts, 'pyproject.toml')?.match(/^dependencies\s*=\s*\[\s*["'\w]/m)) {
    doubts.push({
      what: 'pyproject.toml has dependencies, and no requirements.txt pins them',
      remedy: 'Write a requirements.txt with exact versions and run idunn init again.',
    });
  } else
    guesses.push({ what: 'nothing has to be installed', because: 'no requirements are named: the standard library' });
  const unit = evidence(tests(facts), /^\s*(?:import unittest|from unittest)/m);
  if (unit !== null && needs.length === 0) {
    steps.push({ id: 'test', stage: 'test', argv: ['python3', '-m', 'unittest'], timeoutMs: INSTALL_MS });
    guesses.push({ what: 'step "test" runs python3 -m unittest', because: `${unit.where} imports unittest` });
  }
  return {
    kind: 'python',
    name: /^name\s*=\s*["']([^"']+)["']/m.exec(textOf(facts, 'pyproject.toml') ?? '')?.[1] ?? '',
    steps,
    artifacts: [
      { id: 'app', path: '.', kind: 'directory' },
      ...(needs.length > 0 ? [{ id: 'packages', path: 'packages', kind: 'directory' as const }] : []),
    ],
    service: { artifact: entry.artifact, path: entry.path, interpreter: 'python3' },
    args: entry.args,
    variables,
    files: [],
    guesses,
    doubts,
  };
}

function entryOf(facts: Facts, needs: readonly string[]): Entry | null {
  const { texts } = facts;
  const own = (path: string, args: readonly Word[], because: string, doubts: readonly Doubt[] = []): Entry => ({
    artifact: 'app',
    path,
    args,
    guess: { what: `python3 runs ${path}`, because },
    doubts,
  });
  const gunicorn = needs.includes('gunicorn');
  const wsgi = evidence(texts, /^application\s*=\s*get_wsgi_application/m);
  const flask = evidence(texts, /^(\w+)\s*=\s*(?:\w+\.)?Flask\(/m);
  const application =
    wsgi === null
      ? flask === null
        ? null
        : { where: flask.where, name: `${moduleOf(flask.where)}:${flask.match[1] ?? 'app'}` }
      : { where: wsgi.where, name: moduleOf(wsgi.where) };
  if (gunicorn && application !== null) {
    return {
      artifact: 'packages',
      path: 'bin/gunicorn',
      args: ['--chdir', { slot: 'artifact:app' }, application.name],
      guess: { what: `gunicorn serves ${application.name}`, because: `${application.where}, and gunicorn is required` },
      doubts: [],
    };
  }
  if (isTracked(facts, 'manage.py')) {
    return own('manage.py', ['runserver', '--noreload', { slot: 'endpoint-port' }], 'manage.py is Django’s', [
      {
        what: 'runserver is Django’s server for development',
        remedy: 'Add gunicorn to requirements.txt and run idunn init again.',
      },
    ]);
  }
  const web = /^web:\s*(.+)$/m.exec(textOf(facts, 'Procfile') ?? '')?.[1];
  const words = web === undefined ? null : plainWords(web);
  if (words !== null && /^python3?$/.test(words.argv[0] ?? '') && words.argv[1]?.endsWith('.py')) {
    return own(words.argv[1], words.argv.slice(2), `Procfile says "web: ${web ?? ''}"`);
  }
  const named = firstTracked(facts, ENTRIES);
  if (named !== null) return own(named, [], `${named} is there`);
  const main = evidence(
    sources(facts).filter(({ path }) => path.endsWith('.py')),
    /^if __name__ == ["']__main__["']/m,
  );
  if (main === null) return null;
  return own(fileOf(main.where), [], `${main.where} runs itself`);
}

/** Names of the packages that a requirements file wants. */
const needed = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => /^([A-Za-z0-9][A-Za-z0-9._-]*)/.exec(line.trim())?.[1]?.toLowerCase() ?? '')
    .filter((name) => name !== '');

const tests = ({ texts }: Facts): readonly SourceText[] =>
  texts.filter(({ path }) => /(?:^|\/)(?:test_\w*|\w*_test|tests?)\.py$/.test(path));

const fileOf = (where: string): string => where.replace(/:\d+$/, '');
const moduleOf = (where: string): string => fileOf(where).replace(/\.py$/, '').replaceAll('/', '.');
