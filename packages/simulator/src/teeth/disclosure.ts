import { type Decision, type DeployEvidence, decide, type TransactionRecord } from '@idunn/authority';
import { CALM, type Scenario } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** I4: goes on as soon as the observer is back, whatever it has not judged yet. */
const withoutVerdict = (tx: TransactionRecord, e: DeployEvidence): Decision => decide(tx, { ...e, standing: [] });

/** It dies while the observer is away, comes back as something else, and a deployment waits meanwhile. */
export const DISAGREES_MEANWHILE: Scenario = {
  ...CALM,
  seed: 1,
  shapes: { app: { stores: 1, routed: true } },
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'lies-when-relaunched', revision: 1 },
    { target: 'app', atMs: 1_500, behaviour: 'good', revision: 2 },
  ],
  kills: [{ target: 'app', atMs: 1_200 }],
  observerDown: [{ fromMs: 1_000, untilMs: 4_000 }],
};

/** What disagrees is shown before the graph changes. */
export const TEETH_OF_DISCLOSURE: readonly Tooth[] = [
  { name: 'waits for no verdict', breaks: 'I4', scenario: DISAGREES_MEANWHILE, decide: withoutVerdict },
];
