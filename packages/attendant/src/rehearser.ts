import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { realMachine } from '@idunn/workload/attending';
import { z } from 'zod';
import { type Listener, listenerOf } from './edge/listener.ts';
import { healthOf, judge } from './model/health.ts';
import { bad, type Finding } from './model/reading.ts';
import { ofItself } from './probes/of-itself.ts';
import { lookAt } from './probes/probe.ts';

/**
 * Runs a program and looks at it until it is good, as the attendant would, and writes what came of it. It signs
 * nothing and speaks to nobody; whoever started it ends both.
 */
const probe = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('http'),
    method: z.string(),
    path: z.string(),
    statuses: z.array(z.int()),
    body: z.string().nullable(),
  }),
  z.strictObject({ kind: z.literal('tcp') }),
  z.strictObject({
    kind: z.literal('command'),
    argv: z.array(z.string()),
    environment: z.record(z.string(), z.string()),
    cwd: z.string(),
  }),
]);
const ordersSchema = z.strictObject({
  schema: z.literal('idunn.rehearsal-orders/v1'),
  argv: z.array(z.string()).min(1),
  environment: z.record(z.string(), z.string()),
  cwd: z.string(),
  probe,
  endpoint: z.strictObject({ host: z.string(), port: z.int() }).nullable(),
  intervalMs: z.int().positive(),
  probeTimeoutMs: z.int().positive(),
  successes: z.int().positive(),
  timeoutMs: z.int().positive(),
  result: z.string(),
});
type Orders = z.infer<typeof ordersSchema>;

/** A program is looked at again soon while it starts, later and later up to its interval. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

const [, , ordersFile = ''] = process.argv;
const orders = ordersSchema.parse(JSON.parse(readFileSync(ordersFile, 'utf8')));
const machine = realMachine;
let newest = bad('it was not looked at yet');
let over = false;

const program = begin(orders);
machine.after(orders.timeoutMs, () =>
  end(false, { ...newest, said: `${newest.said}; ${orders.timeoutMs} ms are over` }),
);
program.on('error', (error) => end(false, bad(`it cannot be started: ${error.message}`)));
program.on('exit', (code, signal) => {
  const how = code === null ? `was ended by ${signal}` : `ended with ${code}`;
  end(false, { ...newest, said: `the program ${how} before it was healthy; last look: ${newest.said}` });
});
await look();

function begin({ argv: [file = '', ...args], cwd, environment }: Orders): ChildProcess {
  return spawn(file, args, { cwd, env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
}

async function look(): Promise<void> {
  const longestMs = Math.min(orders.intervalMs, LONGEST_PAUSE_MS);
  const { probe, endpoint, probeTimeoutMs: timeoutMs, successes } = orders;
  let health = healthOf('unproven');
  for (let pauseMs = FIRST_PAUSE_MS; !over; pauseMs = Math.min(2 * pauseMs, longestMs)) {
    newest = await ofItself(await lookAt({ probe, endpoint, timeoutMs }, machine), orders, listener);
    health = judge(health, newest.good, { successes, failures: successes });
    if (health.verdict === 'good') return end(true, newest);
    await new Promise<void>((resolve) => void machine.after(pauseMs, resolve));
  }
}

/** It may see the whole machine, and a port of it. */
function listener(port: number): Promise<Listener> {
  const { IDUNN_ACTIVATION: activation = '' } = orders.environment;
  return listenerOf({ pid: program.pid ?? 0, activation }, port);
}

/** The first verdict is the only one. */
function end(passed: boolean, { said, status, body }: Finding): void {
  if (over) return;
  over = true;
  const draft = `${orders.result}.draft`;
  const result = { schema: 'idunn.rehearsal-result/v1', passed, said, status, body };
  writeFileSync(draft, `${JSON.stringify(result)}\n`, { mode: 0o600 });
  renameSync(draft, orders.result);
  process.exit(0);
}
