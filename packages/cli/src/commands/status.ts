import type { Status } from '@idunn/client';
import { type CommonOptions, type Context, openContext, printJson, printLines, refuse, show } from '../context.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import { renderStatus } from '../render/status.ts';
import { fit } from '../render/table.ts';

export interface StatusOptions extends CommonOptions {
  readonly watch?: boolean;
}

/** `idunn status [target]`: once, or drawn anew with every event. */
export async function status(
  environment: Environment,
  target: string | undefined,
  options: StatusOptions,
): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const context = opened.value;
  if (options.watch === true) return watch(context, target);
  return show(context, narrowed(context, target), (value) => render(context, value));
}

async function narrowed(
  { client, located }: Context,
  target: string | undefined,
): ReturnType<Context['client']['status']> {
  const answer = await client.status();
  if (!answer.ok) return answer;
  const found = { ...answer.value, foundBy: located.by };
  if (target === undefined) return { ok: true, value: found };
  const targets = found.targets.filter((one) => one.target === target);
  if (targets.length > 0) return { ok: true, value: { ...found, targets } };
  return {
    ok: false,
    refusal: {
      code: 'target-unknown',
      reason: `the fleet ${found.fleet} has no target ${target}`,
      remedy: 'Run idunn status to see the targets.',
      detail: { targets: found.targets.map((one) => one.target) },
    },
  };
}

const render = ({ environment, located, style }: Context, value: Status): string[] =>
  renderStatus(value, `found by ${located.by}`, environment.nowMs(), style);

/** Drawn anew when something happened, and every second on a terminal so that ages stay true. */
async function watch(context: Context, target: string | undefined): Promise<number> {
  const { environment, json } = context;
  const stop = new AbortController();
  const forget = environment.onInterrupt(() => stop.abort());
  let drawing: Promise<void> = Promise.resolve();
  let due = false;
  const draw = async (): Promise<void> => {
    due = false;
    const answer = await narrowed(context, target);
    if (stop.signal.aborted) return;
    if (!answer.ok) refuse(environment, json, answer.refusal);
    else if (json) printJson(environment, answer.value);
    else {
      const lines = render(context, answer.value).map((line) => fit(line, environment.out.columns));
      printLines(
        environment.out,
        environment.out.terminal ? ['\u001b[H\u001b[2J' + (lines[0] ?? ''), ...lines.slice(1)] : lines,
      );
    }
  };
  // At most one drawing runs and one is due, however many events come.
  const drawSoon = (): void => {
    if (due) return;
    due = true;
    drawing = drawing.then(draw);
  };
  const stopTicking = environment.out.terminal && !json ? environment.every(1_000, drawSoon) : () => undefined;
  drawSoon();
  for await (const followed of context.client.events({
    signal: stop.signal,
    ...(target === undefined ? {} : { target }),
  })) {
    if (followed.kind !== 'lost' || followed.retryMs < 100) drawSoon();
  }
  stopTicking();
  forget();
  await drawing;
  return EXIT.done;
}
