import { attendantErrors } from './attendant.ts';
import { authorityErrors } from './authority.ts';
import { daemonErrors } from './daemon.ts';
import { driversErrors } from './drivers.ts';
import type { CatalogueEntry } from './entry.ts';
import { kernelErrors } from './kernel.ts';
import { ladderErrors } from './ladder.ts';
import { readinessErrors } from './readiness.ts';
import { releaseErrors } from './release.ts';
import { routerErrors } from './router.ts';
import { workloadErrors } from './workload.ts';

/** Each room's part of the catalogue. */
export const catalogueByRoom = {
  kernel: kernelErrors,
  release: releaseErrors,
  readiness: readinessErrors,
  authority: authorityErrors,
  drivers: driversErrors,
  router: routerErrors,
  attendant: attendantErrors,
  workload: workloadErrors,
  daemon: daemonErrors,
  ladder: ladderErrors,
} as const;

const parts = {
  ...kernelErrors,
  ...releaseErrors,
  ...readinessErrors,
  ...authorityErrors,
  ...driversErrors,
  ...routerErrors,
  ...attendantErrors,
  ...workloadErrors,
  ...daemonErrors,
  ...ladderErrors,
};

export type Code = keyof typeof parts;

/** Every error that a user can meet, by its code. */
export const catalogue: Readonly<Record<Code, CatalogueEntry>> = parts;

export const isCode = (text: string): text is Code => Object.hasOwn(catalogue, text);

export type { CatalogueEntry } from './entry.ts';
