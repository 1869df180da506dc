import type { Answer, Client, CommandRequest, OperationReceiptAnswer, OutcomeLine, RefusalAnswer } from '@idunn/client';
import { type CommonOptions, type Context, openContext, printJson, refuse, withSuggestion } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT, exitOfOutcome, exitOfRefusal } from '../exit.ts';
import { nearest } from '../render/words.ts';
import { type FollowOptions, followTransaction } from './follow.ts';
import { unmeasured } from './outcome-line.ts';

export interface UpOptions extends CommonOptions, FollowOptions {
  readonly ref?: string;
  readonly operationId?: string;
}

const PROFILE = 'profile:';

/** `idunn up TARGET` or `idunn up profile:NAME`. The worst outcome of a profile's targets is the command's. */
export async function up(environment: Environment, subject: string, options: UpOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const context = opened.value;
  const operationId = options.operationId ?? environment.freshId('op');
  const request = (target: string, id: string): CommandRequest => ({
    kind: 'up',
    operationId: id,
    target,
    ref: options.ref ?? null,
  });
  if (!subject.startsWith(PROFILE)) return run(context, request(subject, operationId), options);
  const targets = await profileTargets(context.client, subject.slice(PROFILE.length));
  if (!targets.ok) return refuse(environment, context.json, targets.refusal);
  const ends: number[] = [];
  for (const target of targets.value)
    ends.push(await run(context, request(target, `${operationId}:${target}`), options));
  return ends.find((end) => end === EXIT.failed) ?? Math.max(EXIT.done, ...ends);
}

/** Submits one command and follows its transaction; a repeat of its operation id follows the first one (F24). */
export async function run(context: Context, request: CommandRequest, options: FollowOptions): Promise<number> {
  const { environment, json } = context;
  const receipt = await submit(context, request);
  if (!receipt.ok) {
    const refusal = withSuggestion(receipt.refusal);
    if (!json) return refuse(environment, json, refusal);
    const target = 'target' in request ? request.target : null;
    printJson(environment, rejection(target, refusal, environment.nowMs()));
    return exitOfRefusal(refusal);
  }
  const { transaction, target } = receipt.value;
  const outcome = await followTransaction(context, { request, target, transaction }, options);
  return exitOfOutcome(outcome);
}

/**
 * A daemon that dies before it answers may have recorded the command. It is asked again under the same operation id, so
 * the next daemon takes it up or begins it, and never runs it twice (I6, I12).
 */
async function submit(
  { environment, client }: Context,
  request: CommandRequest,
): Promise<Answer<OperationReceiptAnswer>> {
  const first = await client.command(request);
  if (first.ok || !isLost(first.refusal)) return first;
  environment.err.write('The daemon went away before it answered; asking again for at most a minute.\n');
  for (let asked = 0; asked < ASK_AGAIN_TIMES; asked++) {
    await new Promise<void>((resolve) => void environment.after(ASK_AGAIN_MS, resolve));
    const answer = await client.command(request);
    if (answer.ok || answer.refusal.code !== 'daemon-unreachable') return answer;
  }
  const words = `the command with --operation-id ${request.operationId}`;
  const remedy = `Run idunn daemon --detach, then ${words}: it is never run twice.`;
  return { ok: false, refusal: { ...first.refusal, remedy } };
}

const ASK_AGAIN_MS = 250;
const ASK_AGAIN_TIMES = 240;

const isLost = ({ code, reason }: RefusalAnswer): boolean =>
  code === 'daemon-unreachable' && reason.includes('hang up');

/** The last line of `up --json` when nothing was begun. */
const rejection = (target: string | null, refusal: RefusalAnswer, nowMs: number): OutcomeLine =>
  unmeasured({ target, transaction: null, outcome: 'rejected', refusal }, nowMs);

async function profileTargets(client: Client, name: string): Promise<Answer<readonly string[]>> {
  const fleet = await client.fleet();
  if (!fleet.ok) return fleet;
  const { profiles } = fleet.value;
  const targets = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (targets !== undefined) return { ok: true, value: targets };
  const names = Object.keys(profiles);
  const meant = nearest(name, names);
  return {
    ok: false,
    refusal: {
      code: 'profile-unknown',
      reason: `the fleet ${fleet.value.fleet} has no profile ${name}`,
      remedy: `${meant === null ? '' : `Did you mean profile:${meant}? `}The fleet has: ${names.join(', ') || 'none'}.`,
    },
  };
}
