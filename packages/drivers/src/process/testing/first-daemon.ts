import { createPrivateKey } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LaunchRequest } from '@idunn/authority';
import { ok, systemClock, systemTimers } from '@idunn/kernel';
import { createProcessDriver } from '../driver.ts';

/** A daemon of its own process: starts what it is told on stdin, prints the handle, and lives until it is killed. */
const told = JSON.parse(await text(process.stdin)) as {
  roots: { runtime: string; logs: string };
  root: string;
  seed: string;
  request: LaunchRequest;
};
const key = { keyId: 'ed25519:0', privateKey: createPrivateKey(told.seed) };
const driver = createProcessDriver({
  fleet: 'bench',
  machine: 'local',
  roots: told.roots,
  authorityKey: key,
  signerKeyFor: () => Promise.resolve(ok(key)),
  observerEndpoint: () => null,
  artifactFile: (_release, artifact, path) => join(told.root, 'release', artifact, path),
  clock: systemClock(),
  timers: systemTimers,
});
const started = await driver.start(told.request);
if (!started.ok) throw new Error(started.refusal.reason);
driver.watch(started.value);
process.stdout.write(JSON.stringify(started.value));
