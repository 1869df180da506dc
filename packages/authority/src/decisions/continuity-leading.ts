import { type Body, bodyAlone, launchOf, subjectOf } from '../records/body.ts';
import type { Passage } from '../records/passage.ts';
import type { ContinuityDecision } from './continuity-decision.ts';
import type { ContinuityEvidence } from './continuity-evidence.ts';
import { taking } from './continuity-restart.ts';

/**
 * What serves without an admission goes on to it as it runs: the same passage once more from its grant on, under the
 * epoch that its row has. Then whatever was admitted before it leaves, with all that is left of its tree (F16).
 */
export function leadOn(e: ContinuityEvidence, body: Body): ContinuityDecision {
  const { admitted } = e.target;
  const { activation } = body.document;
  const standing = body.epoch === null ? null : { epoch: body.epoch, activation };
  const passage: Passage = {
    direction: admitted?.incarnation === body.incarnation ? 'back' : 'forward',
    requestId: e.fresh.transaction,
    successor: { subject: subjectOf(body), launch: launchOf(body) },
    spent: [],
    relaunches: 0,
    predecessors: admitted === null ? [] : [bodyAlone(admitted)],
    move: standing === null ? null : { from: standing, to: standing },
    origin: standing,
    echoed: body.echoed ? [activation] : [],
  };
  const phase = 'incumbent-fenced';
  const begun = taking(e, 'stranded', { phase, passage, stuck: null }, [phase]);
  return { kind: 'persist', record: e.record, begin: { ...begun, activation: null } };
}
