import { entries } from '../entry.ts';

export const buildErrors = entries({
  'work-aborted': {
    reason: 'The work was withdrawn before it was done.',
    remedy: 'Run idunn up again when it is wanted.',
    blame: 'user',
    retry: 'retryable',
  },
  'program-not-admitted': {
    reason: 'A step starts a program that its runner profile does not admit.',
    remedy: 'Have the operator add the program to allowed_programs of the binding.',
    blame: 'user',
    retry: 'final',
  },
  'mount-refused': {
    reason: 'A mount of a runner would show a step what the authority keeps, or a state.',
    remedy: 'Name a directory outside the fleet, its directories and every state root in mount of the binding.',
    blame: 'user',
    retry: 'final',
  },
  'lockfile-missing': {
    reason: 'The source tree does not hold the lockfile that a runner profile of its recipe names.',
    remedy: 'Commit the lockfile, or correct lockfile of the profile in the recipe.',
    blame: 'user',
    retry: 'final',
  },
  'step-failed': {
    reason: 'A step of the recipe ended with a failure.',
    remedy: 'Read the last lines of its output, correct the source, and deploy again.',
    blame: 'user',
    retry: 'retryable',
  },
  'step-not-started': {
    reason: 'A step of the recipe could not be started.',
    remedy: 'Check the program of the step and its directory, then deploy again.',
    blame: 'user',
    retry: 'retryable',
  },
  'step-timed-out': {
    reason: 'A step of the recipe did not end within its time limit.',
    remedy: 'Raise timeout_ms of the step in the recipe, or make the step faster.',
    blame: 'user',
    retry: 'retryable',
  },
  'step-not-ended': {
    reason: 'Processes of a step were killed and still not seen gone.',
    remedy:
      'Look with ps for a process in state D, which waits for a disk or a network file system; then deploy again.',
    blame: 'system',
    retry: 'retryable',
  },
  'bubblewrap-missing': {
    reason: 'A runner profile is bound to bubblewrap, which is not installed on this machine.',
    remedy: 'Install bubblewrap, for example with apt-get install bubblewrap, or bind another kind of runner.',
    blame: 'user',
    retry: 'retryable',
  },
  'sandbox-not-makeable': {
    reason: 'Bubblewrap is installed and cannot make a sandbox on this machine.',
    remedy: 'Allow user namespaces for this user (sysctl user.max_user_namespaces, AppArmor), or run Idunn as root.',
    blame: 'user',
    retry: 'retryable',
  },
  'step-output-limit': {
    reason: 'A step of the recipe wrote more output than its limit.',
    remedy: 'Raise output_limit_bytes of the step in the recipe, or make the step quieter.',
    blame: 'user',
    retry: 'retryable',
  },
  'input-unreachable': {
    reason: 'A pinned input could not be fetched.',
    remedy: 'Check the url of the input from this machine, then deploy again.',
    blame: 'system',
    retry: 'retryable',
  },
  'input-digest-mismatch': {
    reason: 'A pinned input does not have the digest that the recipe pins.',
    remedy: 'Check who changed the file; pin the new sha256 in the recipe only if the change is wanted.',
    blame: 'user',
    retry: 'final',
  },
  'input-too-large': {
    reason: 'A pinned input is larger than its limit.',
    remedy: 'Raise max_bytes of the input in the recipe.',
    blame: 'user',
    retry: 'final',
  },
  'artifact-missing': {
    reason: 'An artifact that the recipe declares does not exist after its steps ran.',
    remedy: 'Correct path and kind of the artifact, or the step that should make it.',
    blame: 'user',
    retry: 'final',
  },
  'artifact-unsafe': {
    reason: 'An artifact holds something that cannot be sealed.',
    remedy: 'Make the steps put only regular files, and links within the artifact, into it.',
    blame: 'user',
    retry: 'final',
  },
  'entry-missing': {
    reason: 'The packaged program is not a file of its artifact, or not executable.',
    remedy: 'Correct service.path in the recipe, or make the file executable.',
    blame: 'user',
    retry: 'final',
  },
  'interpreter-changed': {
    reason: 'The interpreter is not the one that was planned any more.',
    remedy: 'Deploy again to plan with the interpreter that is installed now.',
    blame: 'system',
    retry: 'retryable',
  },
  'build-export-missing': {
    reason: 'There is no whole export of a build where one was named.',
    remedy: 'Export the build again where it was sealed: idunn ladder promote does it.',
    blame: 'user',
    retry: 'final',
  },
  'build-export-altered': {
    reason: 'The bytes of a carried build are not what was sealed.',
    remedy: 'Export the build again where it was sealed, and carry it again.',
    blame: 'user',
    retry: 'final',
  },
  'builder-unknown': {
    reason: 'No builder that the binding admits signed the export of the build.',
    remedy:
      'Add the public key of the fleet that sealed it to source.builders of the binding: idunn key show authority prints it there.',
    blame: 'user',
    retry: 'final',
  },
  'build-unknown': {
    reason: 'The build is neither sealed nor carried here.',
    remedy: 'Promote it from the fleet that sealed it: idunn ladder promote.',
    blame: 'user',
    retry: 'final',
  },
  'release-missing': {
    reason: 'The sealed release is not installed on this machine.',
    remedy: 'Deploy the revision again with idunn up to seal it anew.',
    blame: 'system',
    retry: 'final',
  },
  'release-altered': {
    reason: 'The installed release is not what was sealed.',
    remedy:
      'Find out who changed the files, remove the release directory, and deploy the revision again with idunn up.',
    blame: 'system',
    retry: 'final',
  },
  'release-write-failed': {
    reason: 'The stage or the release could not be written.',
    remedy: 'Check the free space and the permissions of the release and cache directories, then deploy again.',
    blame: 'system',
    retry: 'retryable',
  },
});
