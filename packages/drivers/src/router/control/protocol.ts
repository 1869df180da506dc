import type { RouteEvent, RouteMember, RouteState, Staged } from '@idunn/authority';
import type { Refusal } from '@idunn/kernel';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { contractSchema, membersSchema } from '../model/schema.ts';
import type { Observation } from '../proxy/observations.ts';
import type { SwitchReport } from '../proxy/route.ts';
import type { Published, RouterMetrics } from '../router.ts';

/** Rises when a message changes its meaning; a driver and a router of different versions do not speak. */
export const PROTOCOL = 2;

const route = z.string().min(1).max(256);
const incarnation = z.string().min(1).max(512);
const nonce = z.string().min(16).max(256);

const text = z.string().min(1).max(4_096);

/** What may be asked, by operation. `hello` comes first on every connection. */
export const asks = {
  hello: z.strictObject({ protocol: z.int(), fleet: z.string() }),
  read: z.strictObject({ route }),
  stage: z.strictObject({ target: route, contract: contractSchema, members: membersSchema }),
  publish: z.strictObject({ stage: z.string().max(256), generation: z.int() }),
  hold: z.strictObject({ route, termMs: z.int().min(1).max(LIMITS.holdTermMs) }),
  release: z.strictObject({ route }),
  remove: z.strictObject({ route }),
  open: z.strictObject({ route, incarnation }),
  drain: z.strictObject({ route, incarnation, withinMs: z.int().min(0).max(LIMITS.drainMs) }),
  'switch-report': z.strictObject({ route }),
  'expect-observation': z.strictObject({ route, nonce }),
  'take-observation': z.strictObject({ nonce }),
  'observe-stream': z.strictObject({ route }),
  'reload-certificates': z.strictObject({}),
  metrics: z.strictObject({}),
  stop: z.strictObject({}),
  succeed: z.strictObject({ program: z.tuple([text], text), build: text }),
} as const;

export type Operation = keyof typeof asks;
export type Ask<O extends Operation> = z.infer<(typeof asks)[O]>;

export interface Hello {
  readonly program: 'idunn-router';
  readonly protocol: number;
  readonly fleet: string;
  readonly pid: number;
  /** Digest of the installed bytes that the router was started from, as its starter named them. */
  readonly build: string;
}

/** What is answered, by operation; `null` where there is no such route. */
export interface Answers {
  readonly hello: Hello;
  readonly read: RouteState | null;
  readonly stage: Staged;
  readonly publish: Published;
  readonly hold: 'held';
  readonly release: 'released';
  readonly remove: 'removed';
  readonly open: number | null;
  readonly drain: number | null;
  readonly 'switch-report': SwitchReport | null;
  readonly 'expect-observation': 'registered';
  readonly 'take-observation': Observation | null;
  readonly 'observe-stream': RouteMember | null;
  readonly 'reload-certificates': 'reloaded';
  readonly metrics: RouterMetrics;
  readonly stop: 'stopping';
  /** Never said: when the successor serves, the connection ends. */
  readonly succeed: 'succeeded';
}

export const requestSchema = z.strictObject({ id: z.int().min(0), op: z.string(), ask: z.unknown() });

export interface Request {
  readonly id: number;
  readonly op: Operation;
  readonly ask: unknown;
}

export type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly refusal: Refusal };

/** Sent to every connection that said hello. */
export interface Notice {
  readonly event: Exclude<RouteEvent, { kind: 'link' }>;
}

export const isOperation = (text: string): text is Operation => Object.hasOwn(asks, text);
