import type { EngineApi, EngineEvent } from '@idunn/authority';
import type { AttendantDriver } from '@idunn/drivers';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { targetStatusOf } from './api/views.ts';
import { attendantGauges } from './attendant/gauges.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counts what the engine tells, and reads the rest when somebody asks; between two scrapes it costs nothing. */
export function metricsOf(
  engine: EngineApi,
  attendant: Pick<AttendantDriver, 'metrics'>,
): { hear(event: EngineEvent): void; text(): Promise<string> } {
  const registry = new Registry();
  const registers = [registry];
  const askAttendant = attendantGauges(registry, attendant);
  const ended = new Counter({
    name: 'idunn_transactions_total',
    help: 'Transactions that ended, by outcome.',
    labelNames: ['target', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'idunn_transaction_seconds',
    help: 'From intake to outcome.',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers,
  });
  const own = new Histogram({
    name: 'idunn_transaction_own_seconds',
    help: 'The share of a transaction that is neither the steps nor the start of the program.',
    buckets: SECONDS,
    registers,
  });
  const gap = new Histogram({
    name: 'idunn_write_gap_seconds',
    help: 'Last write accepted from the incumbent to first from the candidate.',
    buckets: SECONDS,
    registers,
  });
  const held = new Counter({
    name: 'idunn_requests_held_total',
    help: 'Requests held through a switch.',
    labelNames: ['target'],
    registers,
  });
  const failed = new Counter({
    name: 'idunn_requests_failed_total',
    help: 'Requests that failed through a switch.',
    labelNames: ['target'],
    registers,
  });
  for (const gauge of [
    new Gauge({
      name: 'idunn_target_health',
      help: '1 for the health that a target has now.',
      labelNames: ['target', 'health'],
      registers: [],
      async collect() {
        this.reset();
        for (const view of await engine.targets())
          this.set({ target: view.target, health: targetStatusOf(view).health }, 1);
      },
    }),
    new Gauge({
      name: 'idunn_route_certificate_expires_seconds',
      help: 'When the certificate that a route serves runs out, in seconds of the Unix epoch.',
      labelNames: ['target', 'file'],
      registers: [],
      async collect() {
        this.reset();
        for (const { target, route } of await engine.targets())
          for (const { file, expiresAt } of route?.certificates ?? [])
            if (expiresAt !== null) this.set({ target, file }, Date.parse(expiresAt) / 1_000);
      },
    }),
    new Gauge({
      name: 'idunn_daemon_resident_bytes',
      help: 'Memory of the daemon.',
      registers: [],
      collect() {
        this.set(process.memoryUsage.rss());
      },
    }),
    new Gauge({
      name: 'idunn_daemon_cpu_seconds',
      help: 'Processor time of the daemon since its start.',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.set((user + system) / 1e6);
      },
    }),
  ]) {
    registry.registerMetric(gauge);
  }
  return {
    hear(event) {
      if (event.event !== 'outcome') return;
      ended.inc({ target: event.target, outcome: event.outcome });
      duration.observe({ outcome: event.outcome }, event.durationMs / 1_000);
      own.observe(event.ownMs / 1_000);
      // A longer one began before the deployment: nobody wrote meanwhile.
      if (event.writeGapMs !== null && event.writeGapMs <= event.durationMs) gap.observe(event.writeGapMs / 1_000);
      held.inc({ target: event.target }, event.requests.held);
      failed.inc({ target: event.target }, event.requests.failed);
    },
    async text() {
      await askAttendant();
      return registry.metrics();
    },
  };
}
