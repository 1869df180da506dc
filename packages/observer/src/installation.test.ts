import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '@idunn/kernel';
import { sampleWorkload } from '@idunn/readiness/testing';
import { observerInstallation } from './installation.ts';
import { Daemon, Home, payloadOf, RunningObserver, Wire } from './testing/running.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const { bootId } = systemClock();
const scratch = mkdtempSync(join(tmpdir(), 'idunn-installation-'));
const home = new Home();
after(() => {
  for (const directory of [scratch, home.root]) rmSync(directory, { recursive: true });
});

test('I2: the observer runs from the files that are listed for sealing, and from nothing else', async () => {
  execFileSync(process.execPath, [join(REPOSITORY, 'node_modules/typescript/bin/tsc'), '-b', 'packages/observer'], {
    cwd: REPOSITORY,
  });
  const installation = observerInstallation(import.meta.dirname);
  assert.ok(installation.ok);
  const { entry, files } = installation.value;
  for (const { from, to } of files) {
    mkdirSync(dirname(join(scratch, to)), { recursive: true });
    copyFileSync(from, join(scratch, to));
  }
  assert.ok(files.every(({ to }) => !/\.(ts|map|md)$|\/(src|testing)\//.test(to)));
  const odin = sampleWorkload({ target: 'observer', stateful: false, bootId });
  const running = new RunningObserver(home, odin, undefined, [join(scratch, entry)]);
  try {
    await running.logs('serving');
    const daemon = await Daemon.link(home);
    const ghost = sampleWorkload({ target: 'ghostlight', bootId });
    await daemon.publish(ghost);
    const workload = await Wire.open(home.presence);
    workload.socket.write(ghost.line(1));
    assert.equal(payloadOf(await daemon.wire.next('receipt'))['incarnation'], ghost.key);
  } finally {
    await running.end('SIGTERM');
  }
});

test('where Idunn is not installed there is nothing to seal', () => {
  const nowhere = observerInstallation(tmpdir());
  assert.ok(!nowhere.ok);
  assert.equal(nowhere.refusal.code, 'observer-not-built');
});
