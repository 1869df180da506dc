import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ACTIVATION, LeaseHand, makeStore, scratch } from './testing/authority.ts';

const CANDIDATE = fileURLToPath(new URL('./testing/candidate.ts', import.meta.url));
/** Numbers that nobody has. */
const [USER, GROUP] = [64_901, 64_800];

for (const library of ['node:sqlite', 'better-sqlite3']) {
  test(`I1: ${library}: a store that could only be read is written once its grant opens it, not before`, {
    skip: process.getuid?.() !== 0,
  }, async (t) => {
    const directory = scratch(t);
    const path = join(directory, 'world.db');
    makeStore(path, 1, null);
    // As a daemon keeps it: the side files are there.
    const hand = new LeaseHand(path);
    t.after(() => hand.close());
    hand.swap(2, null);
    const giveTo = (uid: number): void => {
      chmodSync(directory, 0o2750);
      chownSync(directory, uid, GROUP);
      for (const name of readdirSync(directory)) {
        chmodSync(join(directory, name), 0o640);
        chownSync(join(directory, name), uid, GROUP);
      }
    };
    giveTo(0);
    const words = [`--reuid=${USER}`, `--regid=${GROUP}`, '--clear-groups', process.execPath, '--conditions=source'];
    const candidate = spawn('setpriv', [...words, CANDIDATE, path, library], { stdio: ['pipe', 'pipe', 'inherit'] });
    const closed = once(candidate, 'close');
    const said = async (): Promise<string> => String(((await once(candidate.stdout, 'data')) as [Buffer])[0]).trim();
    assert.equal(await said(), '0 0 NotWriter');
    // The row alone opens nothing.
    hand.swap(3, ACTIVATION);
    candidate.stdin.write('3');
    assert.match(await said(), /^NotWriter NotWriter 0$/);
    giveTo(USER);
    hand.swap(4, ACTIVATION);
    candidate.stdin.write('4');
    assert.equal(await said(), 'wrote wrote 2');
    assert.deepEqual(hand.world(), ['a 4', 'b 4']);
    candidate.kill();
    await closed;
  });
}
