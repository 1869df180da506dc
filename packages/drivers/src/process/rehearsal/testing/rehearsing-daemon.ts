import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RehearsalRequest } from '@idunn/authority';
import { freshSeed, ok, signingKeyFromSeed, systemClock, systemTimers } from '@idunn/kernel';
import { createProcessDriver } from '../../driver.ts';
import type { ProcessDriverOptions } from '../../options.ts';

/** A daemon of its own process that rehearses what it is told on stdin, until it is killed. */
const told = JSON.parse(await text(process.stdin)) as Pick<ProcessDriverOptions, 'roots'> & {
  readonly rehearsal: NonNullable<ProcessDriverOptions['rehearsal']>;
  readonly root: string;
  readonly request: RehearsalRequest;
};
const key = signingKeyFromSeed(freshSeed());
const driver = createProcessDriver({
  fleet: 'bench',
  machine: 'local',
  roots: told.roots,
  rehearsal: told.rehearsal,
  authorityKey: key,
  signerKeyFor: () => Promise.resolve(ok(key)),
  observerEndpoint: () => null,
  artifactFile: (_release, artifact, path) => join(told.root, 'release', artifact, path),
  clock: systemClock(),
  timers: systemTimers,
});
await driver.rehearse(told.request, new AbortController().signal);
