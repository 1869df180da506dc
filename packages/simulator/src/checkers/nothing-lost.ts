import type { Judged, Violation } from './judged.ts';

/** I12: what was acknowledged was written exactly once, and while somebody may write nothing stays unanswered. */
export function nothingLost({ world, clients }: Judged): readonly Violation[] {
  const targetOf = (activation: string): string => world.processes.get(activation)?.activation.target ?? '';
  const written = new Map<string, number>();
  for (const { request, activation } of world.ledger.of('write')) {
    if (request === 0) continue;
    const key = `${targetOf(activation)} ${request}`;
    written.set(key, (written.get(key) ?? 0) + 1);
  }
  const found: Violation[] = [];
  for (const { atMs, request, activation } of world.ledger.of('acked')) {
    const times = written.get(`${targetOf(activation)} ${request}`) ?? 0;
    if (times !== 1)
      found.push({ of: 'I12', atMs, detail: `request ${request} was acknowledged and written ${times} times` });
  }
  for (const [target, { unanswered }] of clients) {
    const named = world.named(target);
    const writer = named === null ? undefined : world.processes.get(named.activation);
    const routed = world.route(target)?.members[0]?.activation === named?.activation;
    if (writer?.alive === true && writer.writing && routed && unanswered.size > 0) {
      found.push({
        of: 'I12',
        atMs: world.time.nowMs,
        detail: `${unanswered.size} requests of ${target} were never answered`,
      });
    }
  }
  return found;
}
