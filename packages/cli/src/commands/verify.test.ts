import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../run.ts';
import { refuseWith, stage } from '../testing/stage.ts';

const DIGEST = `sha256:${'b'.repeat(64)}`;

const answer = (...checks: readonly { check: string; verdict: string; detail: string }[]) => ({
  schema: 'idunn.verify/v1',
  target: 'ghostlight',
  incarnation: `ghostlight@${DIGEST}`,
  release: DIGEST,
  revision: 'd'.repeat(40),
  verdict: ['differs', 'unknown', 'ok'].find((word) => checks.some(({ verdict }) => verdict === word)),
  checks,
});

const build = { check: 'build', verdict: 'ok', detail: 'recomputed' };
const process = { check: 'process', verdict: 'unknown', detail: 'hidepid' };
const artifact = { check: 'artifact server', verdict: 'differs', detail: 'not as sealed: server/main.js' };
const ROUTE = 'GET /v1/verify/ghostlight?source=false';

test('I10: only all checks ok are exit code 0; what could not be looked at is not ok', async (t) => {
  const cases = [
    { checks: [build], code: 0, says: /build +recomputed[^]* ok: ghostlight at dddddddddddd [^]*is what was sealed/ },
    {
      checks: [build, process],
      code: 1,
      says: /not checkable +process +hidepid[^]*could not be made, and that is not ok/,
    },
    { checks: [artifact, process], code: 1, says: /differs +artifact server +not as sealed[^]*is not what was sealed/ },
  ];
  for (const { checks, code, says } of cases) {
    const { environment, out } = await stage(t, { [ROUTE]: answer(...checks) });
    assert.equal(await run(environment(['verify', 'ghostlight'])), code);
    assert.match(out.join(''), says);
  }
});

test('verify asks for the source only when it is told to, and shows a refusal as one', async (t) => {
  const refusal = { code: 'nothing-admitted', reason: 'nothing of it is admitted', remedy: 'Run idunn up.' };
  const { environment, asked, err } = await stage(t, { 'GET /v1/verify/ghostlight?source=true': refuseWith(refusal) });
  assert.equal(await run(environment(['verify', 'ghostlight', '--source'])), 3);
  assert.deepEqual(
    asked.map(({ what }) => what),
    ['GET /v1/verify/ghostlight?source=true'],
  );
  assert.match(err.join(''), /nothing-admitted[^]*idunn up/);
});

test('F6: verify --help and wrong words ask nothing', async (t) => {
  const { environment, asked } = await stage(t, {});
  assert.equal(await run(environment(['verify', '--help'])), 0);
  assert.equal(await run(environment(['verify', '../x'])), 2);
  assert.equal(await run(environment(['verify'])), 2);
  assert.equal(asked.length, 0);
});
