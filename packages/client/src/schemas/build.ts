import { z } from 'zod';
import { digest } from './common.ts';

/** A build that is sealed in this fleet, or that was taken in from another. */
export const build = z.object({
  schema: z.literal('idunn.build-view/v1'),
  build: digest,
  /** The target that was sealed from it: here, or where it was taken from. */
  target: z.string(),
  commit: z.string(),
});

/** A build as it was copied out for another fleet. */
export const exportedBuild = z.object({
  schema: z.literal('idunn.exported-build/v1'),
  build: digest,
  target: z.string(),
  commit: z.string(),
  /** A directory of this machine that holds nothing else. */
  directory: z.string(),
});

export type BuildAnswer = z.infer<typeof build>;
export type ExportedBuild = z.infer<typeof exportedBuild>;
