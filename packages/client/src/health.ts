import type { IncarnationStatus, TargetHealth, TargetStatus } from './schemas/status.ts';

/** One word for a target. Never-run, unknown, waiting and healthy are never confused (I4, I10). */
export function targetHealthOf(target: Omit<TargetStatus, 'health'>): TargetHealth {
  if (target.transaction !== null) return target.transaction.waitingOn === null ? 'deploying' : 'waiting';
  if (target.admitted === null) return target.incidents.length > 0 ? 'unhealthy' : neverOrDown(target);
  const current = target.incarnations.find((one) => one.incarnation === target.admitted?.incarnation);
  if (current === undefined || current.present === null || !current.present.fresh) {
    return target.incidents.length > 0 ? 'unhealthy' : 'unknown';
  }
  return presentHealth(current, target.incidents.length > 0);
}

function presentHealth(current: IncarnationStatus, incident: boolean): TargetHealth {
  switch (current.present?.state) {
    case 'failed':
      return 'unhealthy';
    case 'degraded':
    case 'warming':
      return 'degraded';
    case 'active':
      if (current.disagreements.length > 0 || incident) return 'degraded';
      return current.ready === null ? 'unknown' : 'healthy';
    case undefined:
      return 'unknown';
  }
}

const neverOrDown = (target: Omit<TargetStatus, 'health'>): TargetHealth =>
  target.desired === 'up' || target.lease !== null ? 'down' : 'never-run';
