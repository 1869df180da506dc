import type { Evidence } from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import type { RouteMember, RouteState } from '../ports/route-port.ts';
import type { Subject } from '../records/body.ts';

/** The route membership of one launch. Throws for a launch without an endpoint, which no planned route can have. */
export function memberOf(subject: Subject, document: Activation): RouteMember {
  if (document.endpoint === null) throw new Error('a routed launch has an endpoint');
  return { incarnation: subject.incarnation, activation: document.activation, backend: document.endpoint };
}

/** The proxy serves exactly this launch. */
export const routeNames = (route: Evidence<RouteState>, activation: string): boolean =>
  route.kind === 'seen' &&
  route.value.members.length > 0 &&
  route.value.members.every((member) => member.activation === activation);
