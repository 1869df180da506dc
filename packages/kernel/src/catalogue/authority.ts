import { entries } from './entry.ts';

export const authorityErrors = entries({
  'target-not-bound': {
    reason: 'No binding of this fleet names the target.',
    remedy: 'Write a binding for the target under bindings/, or run idunn status to see the targets there are.',
    blame: 'user',
    retry: 'final',
  },
  'queue-full': {
    reason: 'As many commands wait for the target as may wait.',
    remedy: 'Wait until one has ended, which idunn status shows, and run the command again.',
    blame: 'user',
    retry: 'retryable',
  },
  'operation-conflict': {
    reason: 'The operation id was used before for another request.',
    remedy: 'Use a fresh operation id, or repeat the first request exactly.',
    blame: 'user',
    retry: 'final',
  },
  'operation-unknown': {
    reason: 'The operation may have run before, and its receipt is not kept any more.',
    remedy: 'Run idunn history to see what happened; to run the command anew, leave --operation-id out.',
    blame: 'user',
    retry: 'final',
  },
  'intake-uncertain': {
    reason: 'The store did not confirm whether the command was taken.',
    remedy: 'Run the same command again with the same operation id; it is never taken twice.',
    blame: 'system',
    retry: 'retryable',
  },
  'foreign-claim': {
    reason: 'The state belongs to another fleet or target.',
    remedy:
      'If the other owner is gone, run idunn takeover with the name of the target and type the owner that it shows.',
    blame: 'user',
    retry: 'final',
  },
  'nothing-to-take-over': {
    reason:
      'Nobody is in the way of the target: no foreign claim, no unknown holder of its lease, no unrecorded process.',
    remedy: 'Run idunn up; the state is already free to use.',
    blame: 'user',
    retry: 'final',
  },
  'takeover-not-confirmed': {
    reason: 'The confirmation does not name the owner or the activation that the takeover would set aside.',
    remedy: 'Run idunn takeover again and type the owner or the activation exactly as the refusal names it.',
    blame: 'user',
    retry: 'final',
  },
  'phase-deadline': {
    reason: 'A phase took longer than its deadline in the plan.',
    remedy:
      'Run idunn history for what was waited on; raise the deadline in the binding or mend the cause, then run idunn up again.',
    blame: 'system',
    retry: 'retryable',
  },
  'candidate-exited': {
    reason: 'The candidate ended before it was admitted.',
    remedy:
      'Read its last lines in this message or with idunn logs, mend the program, and run idunn up again. One that puts itself into the background must be told to stay in the foreground.',
    blame: 'user',
    retry: 'final',
  },
  'candidate-failed': {
    reason: 'The candidate said of itself that it has failed.',
    remedy: 'Read its last words in this message, mend the program, and run idunn up again.',
    blame: 'user',
    retry: 'final',
  },
  'candidate-never-warming': {
    reason: 'The candidate never said that it is warming.',
    remedy: 'Let the program send its first presence once it can serve; idunn logs shows how far it came.',
    blame: 'user',
    retry: 'final',
  },
  'candidate-never-healthy': {
    reason: 'The probe of the candidate never read well.',
    remedy: 'Look at its last reading and log lines in this message, and mend the program or [health] of its recipe.',
    blame: 'user',
    retry: 'final',
  },
  'candidate-never-active': {
    reason: 'The candidate was let in, with the write lease if it keeps state, and never became active.',
    remedy:
      'Let the program become active when it is granted, and a program without state say idunn.active() once it serves; idunn logs shows how far it came.',
    blame: 'user',
    retry: 'final',
  },
  'candidate-never-ready': {
    reason: 'The observer never found the candidate ready.',
    remedy: 'Run idunn status to see what the observer misses, and run idunn up again.',
    blame: 'system',
    retry: 'retryable',
  },
  'wrote-before-lease': {
    reason: 'The candidate claimed or made a write before it held the lease.',
    remedy:
      'Let the program write only inside guarded transactions after its grant; packages/workload does so. Where records were put back from an older backup, newer ones had granted it: run idunn up again.',
    blame: 'user',
    retry: 'final',
  },
  'ran-before-grant': {
    reason: 'The program ran before it was granted the lease.',
    remedy: 'Nothing outside Idunn may start it or open its gate: end what does, then run idunn up again.',
    blame: 'system',
    retry: 'final',
  },
  'incarnation-mismatch': {
    reason: 'The process presents another incarnation than the one that was deployed.',
    remedy: 'Let the program present the incarnation of its launch document, and run idunn up again.',
    blame: 'user',
    retry: 'final',
  },
  'runtime-identity-mismatch': {
    reason: 'The process that presents itself is not the one that was started.',
    remedy: 'Let only the started process send presence with the key of its activation.',
    blame: 'user',
    retry: 'final',
  },
  'endpoint-mismatch': {
    reason: 'The process presents another endpoint than the one that it was given.',
    remedy: 'Let the program listen where its launch document says.',
    blame: 'user',
    retry: 'final',
  },
  'schema-mismatch': {
    reason: 'The process presents another state schema than the recipe declares.',
    remedy: 'Make the state schema of the recipe and of the program the same.',
    blame: 'user',
    retry: 'final',
  },
  'capability-mismatch': {
    reason: 'The process presents other capabilities than the recipe declares.',
    remedy: 'Make the capabilities of the recipe and of the program the same.',
    blame: 'user',
    retry: 'final',
  },
  'executable-mismatch': {
    reason: 'What runs is not the executable that was sealed.',
    remedy: 'Let the packaged program run itself, start no other in its place, and write nothing into its release.',
    blame: 'user',
    retry: 'final',
  },
  'incumbent-unseen': {
    reason: 'Whether the incumbent runs could not be seen.',
    remedy: 'Correct what the message names; where the files of its launch are gone, idunn restart launches it anew.',
    blame: 'system',
    retry: 'retryable',
  },
  'lease-row-unexpected': {
    reason: 'The lease row names somebody whom this authority never granted it to.',
    remedy:
      'Find what writes to the state; idunn inspect shows the row. Nothing is granted over it: if what it names may end, run idunn takeover with the target and that activation.',
    blame: 'system',
    retry: 'retryable',
  },
  'unrecorded-process': {
    reason: 'A process of the target runs that none of its records stands for, and nothing may run beside it.',
    remedy:
      'Find out what it is by the process number in this message. If it may end, run idunn takeover with the target and that activation; what waits then goes on by itself.',
    blame: 'system',
    retry: 'retryable',
  },
  'lease-row-unreadable': {
    reason: 'The lease row could not be read.',
    remedy:
      'Put what is missing or damaged back into the state root as it was; what waits then goes on by itself, and nothing is granted before.',
    blame: 'system',
    retry: 'retryable',
  },
  'claim-unreadable': {
    reason: 'The owner claim beside the state could not be read.',
    remedy: 'Run idunn doctor to see the state root.',
    blame: 'system',
    retry: 'retryable',
  },
  'route-unreadable': {
    reason: 'The router could not be asked what it serves.',
    remedy: 'Run idunn doctor to see the router, and what brings it back.',
    blame: 'system',
    retry: 'retryable',
  },
  'fence-not-proven': {
    reason: 'Nothing proves that every process of the old launch is gone.',
    remedy:
      'Give the target a control group, or declare single_process in its binding if it never forks; end what is left of it by hand.',
    blame: 'system',
    retry: 'retryable',
  },
  'route-not-observed': {
    reason: 'The proxy was not seen to serve the candidate.',
    remedy: 'Run idunn doctor to see the router and what the health path answers.',
    blame: 'system',
    retry: 'retryable',
  },
  'driver-fault': {
    reason: 'A driver failed in a way that it does not explain.',
    remedy: 'Run idunn doctor, and read the log of the daemon; the step is tried again.',
    blame: 'system',
    retry: 'retryable',
  },
  'evidence-unknown': {
    reason: 'What must be seen before the next step could not be read.',
    remedy: 'Run idunn doctor; the step is taken once it can be read.',
    blame: 'system',
    retry: 'retryable',
  },
  'admitted-process-lost': {
    reason: 'The admitted process is gone, and its next restart is waited for.',
    remedy: 'It is restarted by itself; idunn logs shows why it ended, and idunn restart starts it at once.',
    blame: 'system',
    retry: 'retryable',
  },
  'restarted-too-often': {
    reason: 'The target was restarted six times within an hour.',
    remedy:
      'Read idunn logs for why it ends, and deploy a build that lasts. It is restarted again and again meanwhile.',
    blame: 'user',
    retry: 'retryable',
  },
  'restart-overdue': {
    reason: 'A restart takes longer than the phase may take, and its process is left alone.',
    remedy: 'Read idunn logs for what it does; idunn expire ends this launch, and the next one follows by itself.',
    blame: 'user',
    retry: 'retryable',
  },
  'restart-yielded': {
    reason: 'A restart that had not proven its route gave way to a deployment.',
    remedy: 'Nothing is to be done: the deployment replaces it.',
    blame: 'system',
    retry: 'final',
  },
  'nothing-to-restart': {
    reason: 'Nothing of the target is admitted that could be restarted.',
    remedy: 'Run idunn up to deploy it first.',
    blame: 'user',
    retry: 'final',
  },
  'continuity-held': {
    reason: 'The target is dead, and a hold suspends its restarts.',
    remedy: 'Ask the one who engaged the hold, or run the command that idunn status shows for the hold.',
    blame: 'user',
    retry: 'retryable',
  },
  'hold-unreadable': {
    reason: 'The hold on restarts could not be read, and restarts wait.',
    remedy: 'Run the command that this message names, as the owner of the directory of that file.',
    blame: 'system',
    retry: 'retryable',
  },
  'presence-lapsed': {
    reason: 'The admitted process lives and has said nothing for longer than its contract allows.',
    remedy:
      'Read idunn logs for what it does; idunn restart replaces it. With continuity.failed_after_ms in the binding it is replaced by itself.',
    blame: 'user',
    retry: 'retryable',
  },
  'verdict-missing': {
    reason: 'The observer is back, and has not judged what is admitted in time.',
    remedy:
      'Read idunn logs of the target and of the observer for why they do not reach each other; it closes with the first word that the observer says of it.',
    blame: 'system',
    retry: 'retryable',
  },
  'projection-foreign': {
    reason: 'The observer projects an activation that none of the target’s transactions issued.',
    remedy:
      'Nothing is restarted on top of it. If it may end, run idunn takeover with the target and that activation; where that finds nobody, idunn up brings the target back.',
    blame: 'system',
    retry: 'retryable',
  },
  'stop-unreadable': {
    reason: 'The record of a freeze or hold cannot be read as one, and holds.',
    remedy: 'Run the command that this message names, as the owner of the directory of that file.',
    blame: 'user',
    retry: 'final',
  },
  'stop-not-written': {
    reason: 'The record of a freeze or hold could not be written.',
    remedy:
      'Correct what the message names, such as a directory that is missing or a disk that is full, and run the command again as the owner of the directory.',
    blame: 'user',
    retry: 'final',
  },
  'stop-not-durable': {
    reason: 'The record of a freeze or hold was replaced, but its directory was not confirmed to be on the disk.',
    remedy:
      'It counts as it stands now, and a loss of power may bring the earlier one back: look at the disk, and run the command again.',
    blame: 'system',
    retry: 'retryable',
  },
  'cancelled-by-operator': {
    reason: 'An operator cancelled the transaction before its fence.',
    remedy: 'Nothing is to be done; idunn up begins anew.',
    blame: 'user',
    retry: 'final',
  },
  'expired-by-operator': {
    reason: 'An operator ended a phase that lasted too long.',
    remedy: 'Read what it waited on in this message, mend the cause, and run idunn up again.',
    blame: 'user',
    retry: 'final',
  },
  'nothing-to-cancel': {
    reason: 'The transaction has ended, or is on its way back already.',
    remedy: 'Run idunn status to see what is at work; nothing was changed.',
    blame: 'user',
    retry: 'final',
  },
  'too-late-to-cancel': {
    reason: 'The transaction is past the step up to which it can be withdrawn, or is not of a kind that can be.',
    remedy:
      'Wait for its outcome; idunn expire ends a phase that lasts too long, and idunn hold engage suspends restarts.',
    blame: 'user',
    retry: 'final',
  },
  'nothing-to-expire': {
    reason: 'The transaction is in no phase that can be ended.',
    remedy: 'Run idunn status to see its phase; before warming it can be cancelled. Nothing was changed.',
    blame: 'user',
    retry: 'final',
  },
  'operator-required': {
    reason: 'A deployment is past its fence and can neither finish nor return by itself.',
    remedy: 'Read what it waits on with idunn status, mend the cause, or deploy a build that works.',
    blame: 'system',
    retry: 'retryable',
  },
  'engine-fault': {
    reason: 'The engine met a fault of its own, and the target is held until the step can be taken.',
    remedy: 'Read the log of the daemon, and report it with idunn history; the step is tried again.',
    blame: 'system',
    retry: 'retryable',
  },
  'store-fault': {
    reason: 'The record store could not be read or written, and nothing is acted on until it can.',
    remedy: 'Run idunn doctor; make room on the disk of the state directory or restore the store.',
    blame: 'system',
    retry: 'retryable',
  },
  'admitted-unjudged': {
    reason: 'What was admitted could not be looked at.',
    remedy: 'Run idunn doctor; it is looked at again.',
    blame: 'system',
    retry: 'retryable',
  },
});
