import type { Operators } from './operators.ts';
import type { Scenario } from './scenario.ts';
import { type Struck, strike } from './strike.ts';

/** Has everything done at its time that the scenario does to the world. */
export function schedule(scenario: Scenario, struck: Struck, operators: Operators): void {
  const { world } = struck;
  const { time } = world;
  scenario.deploys.forEach(({ atMs }, index) => time.after(atMs, () => void operators.deploy(index)));
  for (const { target, atMs } of scenario.kills) time.after(atMs, () => struck.kill(target));
  for (const [stop, spans] of [
    ['freeze', scenario.freezes],
    ['hold', scenario.holds],
  ] as const) {
    for (const { target, fromMs, untilMs, unreadable } of spans) {
      const engaged = unreadable ? 'unreadable' : { by: 'ops', reason: 'audit' };
      time.after(fromMs, () => world.stop(stop, target, engaged));
      time.after(untilMs, () => world.stop(stop, target, null));
    }
  }
  for (const { atMs } of scenario.reboots) time.after(atMs, () => struck.reboot());
  scenario.orders.forEach((order, index) => time.after(order.atMs, () => void operators.order(order, index)));
  for (const { fromMs, untilMs } of scenario.observerDown) {
    time.after(fromMs, () => struck.observer(false));
    time.after(untilMs, () => struck.observer(true));
  }
  for (const { what, target, fromMs, untilMs } of scenario.unreadable ?? []) {
    time.after(fromMs, () => world.unreadable.add(`${what} ${target}`));
    time.after(untilMs, () => world.unreadable.delete(`${what} ${target}`));
  }
  for (const { target, atMs, fault } of scenario.oddities ?? []) {
    time.after(atMs, () => strike(struck, { fault }, target, 'none'));
  }
  const { restored } = scenario;
  if (restored !== undefined) {
    time.after(restored.takenAtMs, () => struck.backUp());
    time.after(restored.atMs, () => struck.restore());
  }
  for (const { atMs, byMs } of scenario.wallSteps) time.after(atMs, () => time.stepWall(byMs));
}

/** What `schedule` does to the world beside deployments, a name for each deed. */
export const done = (scenario: Scenario): readonly string[] =>
  Object.entries(scenario).flatMap(([name, deeds]: [string, unknown]) =>
    Array.isArray(deeds) && name !== 'deploys' ? deeds.map((deed) => deed.fault ?? deed.kind ?? name) : [],
  );
