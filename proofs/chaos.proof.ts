import { randomInt } from 'node:crypto';
import { chaos } from './lib/chaos/chaos.ts';
import type { Proof } from './lib/proof.ts';

/** What `--quick` plays; the whole proof takes a new one each time. */
const QUICK = { seed: 11, minutes: 0.3 };
const MINUTES = 30;

export const proof: Proof = {
  name: 'chaos',
  promise:
    'Whatever is killed, stopped, starved or spoilt: nothing acknowledged is lost, nobody fenced writes, all of it comes to rest.',
  run: ({ quick, note }) => chaos({ note, ...(quick ? QUICK : { seed: randomInt(2 ** 31), minutes: MINUTES }) }),
};
