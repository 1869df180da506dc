import { MAX_BATCH, type Standing } from '@idunn/readiness';
import { MAX_BATCH_BYTES } from '../limits.ts';

/** Cuts standings into batches that fit a line, however much a workload's word disagrees. */
export function pages(standings: readonly Standing[]): Standing[][] {
  const all: Standing[][] = [];
  let page: Standing[] = [];
  let pageBytes = 0;
  for (const standing of standings) {
    const bytes = Buffer.byteLength(JSON.stringify(standing));
    if (page.length === MAX_BATCH || (page.length > 0 && pageBytes + bytes > MAX_BATCH_BYTES)) {
      all.push(page);
      page = [];
      pageBytes = 0;
    }
    page.push(standing);
    pageBytes += bytes;
  }
  if (page.length > 0) all.push(page);
  return all;
}
