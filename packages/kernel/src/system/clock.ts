import { readFileSync } from 'node:fs';
import type { Clock } from '../clock.ts';

/**
 * The machine's clocks. Monotonic time is CLOCK_MONOTONIC, which `process.hrtime` reads, so it compares between the
 * processes of one boot.
 */
export function systemClock(): Clock {
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return {
    bootId,
    wallMs: () => Date.now(),
    monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  };
}
