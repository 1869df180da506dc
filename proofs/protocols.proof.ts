import { monitorEventLoopDelay } from 'node:perf_hooks';
import { claim, type Proof, round, spread } from './lib/proof.ts';
import { carry, chat, listen, listenStraight, Tally, talk } from './lib/protocols/clients.ts';
import { protocolsIn } from './lib/protocols/source.ts';
import { withFleet } from './lib/stage.ts';

const CLIENTS = 8;
/** Of the first byte of an event: what the router may add, and what it may take in all. */
const EVENT_LIMIT_MS = 200;
/** Above this the machine itself is too slow for a limit of the whole; what the router adds is judged all the same. */
const OWN_DELAY_MS = 100;
/** Fewer samples say nothing of a 99th percentile. */
const ENOUGH = 100;

export const proof: Proof = {
  name: 'protocols',
  promise: 'WebSockets, event streams, TCP, large bodies and HEAD pass through switches without a failure.',
  run: ({ quick, note }) =>
    withFleet(async (fleet) => {
      const rounds = quick ? 3 : 10;
      await fleet.daemon();
      const protocols = await protocolsIn(fleet);
      const { sitePort, echoPort } = protocols;
      for (const target of ['site', 'echo'] as const) {
        const { outcome } = await protocols.deploy(target);
        note(`first deployment of ${target}: ${outcome.outcome}`);
      }
      const stop = new AbortController();
      const kinds = { webSocket: new Tally('WebSocket'), events: new Tally('events'), bodies: new Tally('bodies') };
      const tallies = { ...kinds, tcp: new Tally('TCP') };
      const delaysMs: number[] = [];
      const straightMs: number[] = [];
      const ownLoop = monitorEventLoopDelay({ resolution: 10 });
      ownLoop.enable();
      const loops = Array.from({ length: CLIENTS }, () => [
        chat(sitePort, tallies.webSocket, stop.signal),
        listen(sitePort, tallies.events, delaysMs, stop.signal),
        listenStraight(() => protocols.sitePrivatePort(), straightMs, stop.signal),
        carry(sitePort, tallies.bodies, stop.signal),
        talk(echoPort, tallies.tcp, stop.signal),
      ]).flat();
      let admitted = 0;
      let failedByRouter = 0;
      const holds: number[] = [];
      for (let round = 1; round <= rounds; round++) {
        for (const target of ['site', 'echo'] as const) {
          const { outcome } = await protocols.deploy(target);
          if (outcome.outcome === 'admitted') admitted++;
          else note(`${target}, round ${round}: ${outcome.outcome} ${JSON.stringify(outcome.refusal)}`);
          failedByRouter += outcome.requests.failed;
          holds.push(outcome.requests.longestHoldMs);
        }
        // A stream may outlive the next switch while its own build drains: only drains that ended can be counted.
        await Promise.all([tallies.webSocket, tallies.events, tallies.tcp].map((tally) => told(tally, round)));
        note(`${round} of ${rounds} rounds deployed and drained`);
      }
      stop.abort();
      await Promise.all(loops);
      const failures = Object.values(tallies).flatMap((tally) => tally.failures);
      for (const failure of failures.slice(0, 5)) note(`failed: ${failure}`);
      ownLoop.disable();
      const delay = spread(delaysMs);
      const straight = spread(straightMs);
      const added = { p50: round(delay.p50 - straight.p50), p99: round(delay.p99 - straight.p99) };
      const measured = Math.min(delaysMs.length, straightMs.length) >= ENOUGH;
      const switches = 2 * rounds;
      return {
        figures: {
          deploys: switches,
          admitted,
          requests: Object.values(tallies).reduce((sum, { done }) => sum + done, 0),
          done: Object.fromEntries(Object.entries(tallies).map(([kind, { done }]) => [kind, done])),
          toldAtDrain: Object.fromEntries(Object.entries(tallies).map(([kind, { told: count }]) => [kind, count])),
          failed: failures.length,
          failedByRouter,
          heldMs: spread(holds),
          eventDelayMs: delay,
          straightEventDelayMs: straight,
          addedEventDelayMs: added,
          straightEvents: straightMs.length,
          ownLoopDelayMs: {
            p50: round(ownLoop.percentile(50) / 1e6),
            p99: round(ownLoop.percentile(99) / 1e6),
            max: round(ownLoop.max / 1e6),
          },
        },
        claims: [
          claim(`all ${switches} deployments were admitted`, admitted === switches),
          claim('nothing failed', failures.length === 0 && failedByRouter === 0),
          claim(
            'enough happened to show it',
            Object.values(tallies).every(({ done }) => done >= 100),
          ),
          claim(
            'each kind of stream was ended by drains, with notice',
            [tallies.webSocket, tallies.events, tallies.tcp].every((tally) => tally.told >= CLIENTS * rounds),
          ),
          claim(
            `the router adds less than ${EVENT_LIMIT_MS} ms to the first byte of an event (p50, p99)`,
            measured && added.p50 < EVENT_LIMIT_MS && added.p99 < EVENT_LIMIT_MS,
          ),
          ...(straight.p99 > OWN_DELAY_MS
            ? []
            : [
                claim(`the first byte of an event came within ${EVENT_LIMIT_MS} ms (p99)`, delay.p99 <= EVENT_LIMIT_MS),
              ]),
        ],
      };
    }),
};

const TOLD_WITHIN_MS = 15_000;

/** Resolves once the streams of a kind were ended by that many drains, or too late: then the claim fails. */
async function told(tally: Tally, drains: number): Promise<void> {
  const untilMs = performance.now() + TOLD_WITHIN_MS;
  while (tally.told < CLIENTS * drains && performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
