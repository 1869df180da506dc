import { entries } from './entry.ts';

export const attendantErrors = entries({
  'attendant-unreachable': {
    reason: 'The attendant of this fleet does not answer on its control socket.',
    remedy:
      'It is started again by itself, and one that hangs is ended first. Run idunn doctor to see it; attendant.log.stderr in the log directory says why it ended.',
    blame: 'system',
    retry: 'retryable',
  },
  'attendant-answer-lost': {
    reason: 'The attendant was asked, but its answer did not arrive.',
    remedy: 'Nothing has to be done: it is asked again.',
    blame: 'system',
    retry: 'retryable',
  },
  'attendant-start-failed': {
    reason: 'The attendant program could not be started.',
    remedy: 'Read attendant.log.stderr in the log directory, and run idunn doctor again.',
    blame: 'system',
    retry: 'retryable',
  },
  'attendant-already-running': {
    reason: 'An attendant of this fleet is running already.',
    remedy: 'Use the running one; run idunn doctor when it does not answer.',
    blame: 'system',
    retry: 'final',
  },
  'attendant-file-unreadable': {
    reason: 'The attendant cannot read the file of what it attends, and it never starts empty in its place.',
    remedy: 'Move attendant.json of the state directory away, then run idunn up for each attended target.',
    blame: 'system',
    retry: 'final',
  },
  'attendant-file-not-written': {
    reason: 'The attendant cannot write the file of what it attends; what it attended before, it goes on with.',
    remedy: 'Make space on the disk of the state directory, or mend its permissions; it is tried again.',
    blame: 'system',
    retry: 'retryable',
  },
  'attendant-fleet-differs': {
    reason: 'The attendant behind the control socket belongs to another fleet.',
    remedy: 'Give each fleet a runtime directory of its own in fleet.toml.',
    blame: 'user',
    retry: 'final',
  },
  'attendant-request-invalid': {
    reason: 'A control request to the attendant was malformed.',
    remedy: 'Report this with the reason that is shown; nothing was changed.',
    blame: 'system',
    retry: 'final',
  },
  'attendant-limit-reached': {
    reason: 'The attendant speaks for as many programs as it may.',
    remedy: 'Bring some down, or split the fleet over two.',
    blame: 'user',
    retry: 'final',
  },
  'attended-launch-invalid': {
    reason: 'The activation directory of a program that is to be attended cannot be used.',
    remedy: 'Run idunn up again: it mints a new activation.',
    blame: 'system',
    retry: 'final',
  },
  'attended-process-gone': {
    reason: 'The process that is to be attended has ended.',
    remedy: 'Run idunn logs to see why, then idunn up.',
    blame: 'user',
    retry: 'final',
  },
  'attended-unknown': {
    reason: 'The activation is not attended.',
    remedy: 'Nothing has to be done: it is attended first, then asked again.',
    blame: 'system',
    retry: 'retryable',
  },
  'attended-epoch-outdated': {
    reason: 'The attended program holds a higher epoch already.',
    remedy: 'Run idunn status to see which process holds the lease.',
    blame: 'system',
    retry: 'final',
  },
});
