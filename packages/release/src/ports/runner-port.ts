import type { Outcome } from '@idunn/kernel';
import type { RunnerGrant, Step } from '../model/plan.ts';
import type { StageId } from './source-port.ts';

export interface RunRequest {
  /** Unique for each run of a step. */
  readonly requestId: string;
  readonly stage: StageId;
  readonly step: Step;
  readonly grant: RunnerGrant;
}

export interface RunReport {
  readonly durationMs: number;
  readonly outputBytes: number;
  /** Places outside that the step connected to, each `host:port` once, in order of name. */
  readonly contacted: readonly string[];
}

/**
 * Runs one step inside the stage. When the promise settles, no process of the step is left. A failure is a refusal
 * whose detail holds `exit`, `signal`, `lastLines` and `log` (the output's file).
 */
export interface RunnerPort {
  /** Ends whatever a run that died with its daemon left in the stage. */
  endAll(stage: StageId): Promise<void>;
  run(request: RunRequest, signal: AbortSignal, line: (text: string) => void): Promise<Outcome<RunReport>>;
}
