import type { ChildProcess } from 'node:child_process';
import type { Outcome } from '@idunn/kernel';
import type { RunnerGrant, RunRequest, StagePaths } from '@idunn/release';
import type { Ended } from './judge.ts';

/** A step that was admitted and is about to be started. */
export interface StepSite<Grant extends RunnerGrant> {
  readonly request: RunRequest;
  readonly grant: Grant;
  readonly paths: StagePaths;
  /** The host's file behind the step's program name. */
  readonly program: string;
  /** The real path of the working directory, inside the real `tree`. */
  readonly directory: string;
  readonly tree: string;
  /** A line for people, beside the step's own output. */
  readonly line: (text: string) => void;
}

export interface StartedStep {
  /** Its exit is the step's; its stdout and stderr are read to their end. */
  readonly child: ChildProcess;
  /** Ends everything of the step. Safe to repeat. */
  kill(): void;
  /** After the child's exit: resolves when nobody of the step is left, with what is known beside the exit. */
  cleared(): Promise<Aftermath>;
}

export interface Aftermath {
  readonly contacted: readonly string[];
  readonly note: string | null;
  /** A process of the step was still there when the wait for its end was over. */
  readonly stuck: boolean;
  /** What the exit means where the child only carries it on. */
  readonly ended: (exit: Ended) => Ended;
}

/** How one kind of runner brings a step to life; all else about a step is the same for every kind. */
export interface Confinement<Grant extends RunnerGrant> {
  /** Starts it, or leaves nothing behind. */
  start(site: StepSite<Grant>): Promise<Outcome<StartedStep>>;
}
