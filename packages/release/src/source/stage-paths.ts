import { join } from 'node:path';
import type { Digest } from '@idunn/kernel';
import type { StageId } from '../ports/source-port.ts';

/** What a stage holds. Everything beside `tree` is Idunn's; `tree` is what the steps see as their source. */
export interface StagePaths {
  readonly root: string;
  readonly tree: string;
  readonly inputs: string;
  readonly home: string;
  readonly temporary: string;
  readonly logs: string;
}

/**
 * The one layout that the source drivers, the runners and the stages share; `stages` is the authority's stage
 * directory.
 */
export function stagePaths(stages: string, stage: StageId): StagePaths {
  if (!/^[a-z0-9-]{1,63}-[0-9a-f]{64}$/.test(stage)) throw new TypeError('not a stage id');
  const root = join(stages, stage);
  return {
    root,
    tree: join(root, 'tree'),
    inputs: join(root, 'inputs'),
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    logs: join(root, 'logs'),
  };
}

export const stageId = (target: string, plan: Digest): StageId => `${target}-${plan.slice('sha256:'.length)}`;

/** The target whose plan a stage is for. */
export const targetOf = (stage: StageId): string => stage.slice(0, -'-'.length - 64);
