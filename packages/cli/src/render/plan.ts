import type { PlanAnswer } from '@idunn/client';
import type { Style } from './style.ts';
import { table } from './table.ts';
import { bytes, duration, short } from './words.ts';

/** The plan for a person: what would run, on which grants, and how it would be moved. */
export function renderPlan(plan: PlanAnswer, style: Style): string[] {
  const { source, launch, state, route, deadlines } = plan;
  const rows: [string, string][] = [
    ['source', `${short(source.commit)} of ${source.ref} from ${source.origin}`],
    ['recipe', `${source.recipePath} ${short(source.recipeDigest)}`],
    ...plan.inputs.map((input): [string, string] => ['input', `${input.id} ${short(input.sha256)} ${input.url}`]),
    ...plan.steps.map((step): [string, string] => [
      step.stage,
      `${step.id}: ${step.argv.join(' ')} (${step.profile}, at most ${duration(step.timeoutMs)})`,
    ]),
    ...plan.artifacts.map((artifact): [string, string] => [
      'artifact',
      `${artifact.id}: ${artifact.kind} ${artifact.path}`,
    ]),
    ['program', programOf(launch)],
    ...launch.secrets.map((secret): [string, string] => ['secret', `${secret.name}, as a file`]),
    ['state', state === null ? 'none' : `${state.stateId} (${state.schema}) in ${state.root}`],
    ...(state?.stores ?? []).map((store): [string, string] => ['store', `${store.id}: ${store.kind} ${store.path}`]),
    [
      'route',
      route === null
        ? 'none'
        : `${route.name} on ${route.listen.host}:${route.listen.port}, holds at most ${duration(route.holdMs)}`,
    ],
    ['start', startOf(plan)],
    ['health', healthOf(plan)],
    ...(plan.rehearsal === null ? [] : [['rehearsal', rehearsalOf(plan.rehearsal)] satisfies [string, string]]),
    [
      'rollout',
      `${rolloutOf(plan)}, handover within ${duration(deadlines.handoverMs)}, drain ${duration(plan.drainMs)}`,
    ],
  ];
  return [
    `${style.bold(plan.target)} would be planned so; nothing was touched`,
    ...table(rows.map(([name, text]) => [`  ${style.dim(name)}`, text])),
  ];
}

const rolloutOf = ({ rollout }: PlanAnswer): string =>
  rollout.strategy === 'stop-then-start' ? `${rollout.strategy} (${rollout.reason})` : rollout.strategy;

type Interpreter = Extract<PlanAnswer['launch']['program'], { kind: 'interpreter' }>;

const interpreterOf = (program: Interpreter): string =>
  program.origin === 'host' ? `${program.path} (host)` : 'the sealed interpreter';

/** How the program meets its lease, which says what a deployment costs. */
export function startOf({ health, state }: PlanAnswer): string {
  if (health.kind === 'idunn') return 'embedded: it compares its lease with every write';
  return state === null
    ? 'overlapping: old and new run side by side'
    : 'gated: it starts once the old one was seen gone';
}

function healthOf({ health }: PlanAnswer): string {
  if (health.kind === 'idunn') return `its own signed word${health.path === null ? '' : `, and ${health.path}`}`;
  const { probe, intervalMs, timeoutMs, successes, failures } = health;
  const asked = {
    http: () => (probe.kind === 'http' ? `${probe.method} ${probe.path} answers ${probe.statuses.join(' or ')}` : ''),
    tcp: () => 'a connection is accepted',
    command: () => 'a command of its own ends with 0',
  }[probe.kind]();
  return (
    `${asked}, asked every ${duration(intervalMs)} for at most ${duration(timeoutMs)}; ` +
    `well after ${successes} in a row, unwell after ${failures}`
  );
}

const rehearsalOf = ({ timeoutMs, copyLimitBytes }: NonNullable<PlanAnswer['rehearsal']>): string =>
  `on a copy of the state of at most ${bytes(copyLimitBytes)}, well within ${duration(timeoutMs)}`;

export function programOf({ program }: PlanAnswer['launch']): string {
  return program.kind === 'artifact' ? packaged(program) : `${interpreterOf(program)} runs ${packaged(program.entry)}`;
}

/** An artifact that is one file has no paths. */
const packaged = ({ artifact, path }: { artifact: string; path: string }): string =>
  path === '' ? `artifact ${artifact}` : `${path} of artifact ${artifact}`;
