import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Code, catalogue } from '@idunn/kernel';
import { askAll } from './testing/asked.ts';
import { COURSES } from './testing/courses.ts';
import { Hearing } from './testing/hearing.ts';

const PACKAGES = join(import.meta.dirname, '../../..');

/** Where the codes stand that deployments and restarts of the simulated world can come to. */
const RAISING: readonly string[] = [
  'authority/src',
  // What the observer finds to disagree.
  'readiness/src/correlation',
  // What the drivers of the simulated world refuse.
  'simulator/src/ports',
];

/** Why a code is never reached by them. One that is reached all the same has no place here. */
const UNREACHED: Partial<Record<Code, string>> = {
  'attendant-unreachable': 'no link of the simulated world is lost by itself; links.test.ts loses one',
  'engine-fault': 'a defect of Idunn’s own; the checker of faults allows none',
  'gate-opened-otherwise': 'a gate opens once, and whoever is granted another epoch was launched anew',
  'interpreter-changed': 'simulated releases run without an interpreter of the host',
  'nothing-to-take-over': 'the answer to a takeover',
  'takeover-not-confirmed': 'the answer to a takeover',
  'route-certificate-expiring': 'the simulated proxy serves no TLS',
  'route-certificate-unusable': 'the simulated proxy serves no TLS',
  'router-unreachable': 'no link of the simulated world is lost by itself; links.test.ts loses one',
  'stop-not-durable': 'the answer to those who write stops without the engine',
  'stop-not-written': 'the answer to those who write stops without the engine',
};

/** Every code of the catalogue that stands in a source, tests apart. */
function raisable(): ReadonlySet<string> {
  const sources = RAISING.flatMap((folder) =>
    readdirSync(join(PACKAGES, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('testing'))
      .map((name) => readFileSync(join(PACKAGES, folder, name), 'utf8')),
  );
  const words = sources.flatMap((text) =>
    [...text.matchAll(/'([a-z][a-z0-9]*(?:-[a-z0-9]+)+)'/g)].map(([, word = '']) => word),
  );
  return new Set(words.filter((word) => Object.hasOwn(catalogue, word)));
}

test('every code that a deployment or a restart can reach is reached, and each other one says why not', async () => {
  const hearing = new Hearing();
  for (const scenario of COURSES) await hearing.run(scenario);
  await askAll(hearing);
  const all = raisable();
  const missing = [...all].filter((code) => !hearing.codes.has(code) && UNREACHED[code as Code] === undefined);
  assert.deepEqual(missing.toSorted(), [], 'nothing comes to these');
  const excused = Object.keys(UNREACHED).filter((code) => hearing.codes.has(code) || !all.has(code));
  assert.deepEqual(excused, [], 'these are reached, or are raised nowhere');
});
