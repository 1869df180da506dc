import type { AttendantDriver, AttendantMetrics } from '@idunn/drivers';
import { Gauge, type Registry } from 'prom-client';

const GAUGES: readonly (readonly [name: string, help: string, of: (metrics: AttendantMetrics) => number])[] = [
  ['idunn_attendant_targets', 'Programs that the attendant speaks for.', ({ targets }) => targets],
  ['idunn_attendant_probes', 'Probes since the start of the attendant.', ({ probes }) => probes],
  ['idunn_attendant_bad_readings', 'Bad readings since the start of the attendant.', ({ badReadings }) => badReadings],
  ['idunn_attendant_probes_in_flight', 'Probes that run at this moment.', ({ inFlight }) => inFlight],
  ['idunn_attendant_cpu_seconds', 'Processor time of the attendant since its start.', ({ cpuSeconds }) => cpuSeconds],
  ['idunn_attendant_resident_bytes', 'Memory of the attendant.', ({ residentBytes }) => residentBytes],
];

/**
 * What the attendant counts; without one that answers the gauges have no value. Answers what asks it, once before each
 * scrape.
 */
export function attendantGauges(registry: Registry, attendant: Pick<AttendantDriver, 'metrics'>): () => Promise<void> {
  const gauges = GAUGES.map(([name, help, of]) => ({ gauge: new Gauge({ name, help, registers: [registry] }), of }));
  return async () => {
    const metrics = await attendant.metrics();
    for (const { gauge, of } of gauges) {
      gauge.reset();
      if (metrics.kind === 'seen') gauge.set(of(metrics.value));
      else gauge.remove();
    }
  };
}
