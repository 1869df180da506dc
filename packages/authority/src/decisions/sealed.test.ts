import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestBytes } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import { alive, evidence, launchOf, OLD } from '../testing/samples.ts';
import { interpreterChanged, otherBinary, otherThanLaunched } from './sealed.ts';

const launch = launchOf(OLD, 'act-old', 11);
const { process } = alive(launch);
const sealedWith = OLD.release.executableDigest;
const under = (origin: 'host' | 'input'): Plan => {
  const where = origin === 'host' ? { origin, path: '/usr/bin/node' } : { origin, artifact: 'interpreter' };
  const program = { kind: 'interpreter', digest: sealedWith, entry: { artifact: 'app', path: 'main' }, ...where };
  return { ...OLD.plan, launch: { ...OLD.plan.launch, program } } as Plan;
};

test('I2, I9: only what is brought back may run under another interpreter, and only under the host’s own', () => {
  assert.ok(process.kind === 'seen');
  const { release } = OLD;
  const other = { ...process.value, executable: digestBytes('a later node') };
  const judge = (plan: Plan, back: boolean, seen = other): string | null =>
    otherBinary({ plan, release, back }, launch.handle, seen)?.code ?? null;
  assert.equal(judge(under('host'), true), null);
  assert.equal(judge(under('host'), false), 'executable-mismatch', 'a deployment runs what was sealed');
  assert.equal(judge(under('input'), true), 'executable-mismatch', 'a sealed interpreter never changes');
  assert.equal(judge(OLD.plan, true), 'executable-mismatch', 'nor does a packaged program');
  const entry = { device: '1', inode: '2', digest: digestBytes('another entry') };
  assert.equal(judge(under('host'), true, { ...other, entry }), 'executable-mismatch', 'its entry is sealed');
  const argv = digestBytes('other words');
  const handle = { ...launch.handle, argv: other.argv };
  assert.equal(
    otherBinary({ plan: under('host'), release, back: true }, handle, { ...other, argv })?.code,
    'executable-mismatch',
  );
  assert.equal(interpreterChanged(under('host'), { observed: process.value }), null);
  assert.equal(interpreterChanged(under('host'), { observed: other })?.path, '/usr/bin/node');
  assert.equal(interpreterChanged(under('host'), { observed: { ...other, gate: 'waiting' } }), null, 'a launcher');
});

test('I2, I4: what is observed of another process than was started is no proof, whatever its presence says', () => {
  assert.ok(process.kind === 'seen');
  const { release, plan } = OLD;
  const judge = (change: Partial<typeof process.value.identity>): string | null => {
    const identity = { ...launch.handle.identity, ...change };
    return otherBinary({ plan, release, back: false }, launch.handle, { ...launch.observed, identity })?.code ?? null;
  };
  assert.equal(judge({}), null);
  for (const other of [{ pid: 1 }, { startTime: '7' }, { bootId: 'boot-0' }]) {
    assert.equal(judge(other), 'runtime-identity-mismatch');
  }
  const gated = { ...launch.observed, gate: 'waiting' as const };
  const e = evidence({
    plans: { [OLD.subject.plan]: { ...OLD.plan, health: { ...OLD.plan.health, kind: 'attended' } as never } },
  });
  const seenAtGate = { ...gated, identity: { ...launch.handle.identity, pid: 1 } };
  const at = { handle: launch.handle, observed: gated };
  assert.equal(otherThanLaunched(e, OLD.subject, at, gated, false), null);
  assert.equal(otherThanLaunched(e, OLD.subject, at, seenAtGate, false)?.code, 'runtime-identity-mismatch');
});
