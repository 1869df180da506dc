import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';
import type { CertificateState, RouteState } from '../ports/route-port.ts';
import type { TargetActor } from './actor.ts';
import { CertificateWatch } from './certificate-watch.ts';
import type { EngineCore } from './core.ts';
import type { Causes } from './incident-book.ts';

const DAY_MS = 86_400_000;
const pair = (file: string, more: Partial<CertificateState> = {}): CertificateState => ({
  file,
  names: [],
  validFromMs: 0,
  expiresAtMs: 90 * DAY_MS,
  problem: null,
  ...more,
});

test('certificates that end soon or cannot be served are told, and no longer once they are renewed', async () => {
  let nowMs = 0;
  let served: Evidence<Pick<RouteState, 'certificates'>> = absent;
  let again: () => void = () => assert.fail('nothing is looked at again');
  const reports: Causes[] = [];
  let doubted: readonly string[] = [];
  const core = {
    stopped: false,
    ports: {
      clock: { wallMs: () => nowMs },
      timers: {
        after: (_ms: number, fire: () => void) => {
          again = fire;
          return () => undefined;
        },
      },
      route: { read: async () => served },
    },
    library: { plan: async () => ({ route: { name: 'app', tls: {} } }) },
    incidents: {
      report(_target: string, causes: Causes, _part: string, unsure: Iterable<string> = []) {
        reports.push(causes);
        doubted = [...unsure];
      },
    },
    fault: (fault: unknown) => assert.fail(String(fault)),
  } as unknown as EngineCore;
  const actor = { target: 'app', record: { value: { admitted: { plan: 'sha256:0' } } } } as unknown as TargetActor;
  const watch = new CertificateWatch(core, () => [actor]);
  const looked = async (): Promise<[string, string][]> => {
    again();
    await new Promise(setImmediate);
    return [...(reports.at(-1) ?? [])];
  };
  watch.look();

  served = seen({ certificates: [pair('a.pem'), pair('b.pem')] });
  assert.deepEqual(await looked(), []);
  nowMs = 70 * DAY_MS;
  const near = 'a.pem runs out: 1970-04-01T00:00:00.000Z. b.pem runs out: 1970-04-01T00:00:00.000Z.';
  assert.deepEqual(await looked(), [['route-certificate-expiring', near]]);
  assert.deepEqual(doubted, []);
  served = unknown('the router does not answer');
  await looked();
  const both = ['route-certificate-expiring', 'route-certificate-unusable'];
  assert.deepEqual(doubted, both, 'I10: what could not be read closes nothing');
  served = seen({ certificates: [pair('a.pem', { expiresAtMs: 160 * DAY_MS, problem: 'torn' }), pair('b.pem')] });
  assert.deepEqual(await looked(), [
    ['route-certificate-unusable', 'torn'],
    ['route-certificate-expiring', 'b.pem runs out: 1970-04-01T00:00:00.000Z.'],
  ]);
  served = seen({ certificates: [pair('a.pem', { expiresAtMs: 160 * DAY_MS })] });
  assert.deepEqual(await looked(), []);
});
