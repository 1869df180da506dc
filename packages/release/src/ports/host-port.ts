import type { HostFacts, HostQuestions } from '../plan/host-facts.ts';

/** Looks at the machine for planning; it only reads. */
export interface HostPort {
  look(questions: HostQuestions): Promise<HostFacts>;
}
