import { entries } from './entry.ts';

export const daemonErrors = entries({
  'api-version-mismatch': {
    reason: 'The command and the daemon speak different versions of the API.',
    remedy: 'Install the same version of Idunn on both sides, then run idunn daemon again.',
    blame: 'user',
    retry: 'final',
  },
  'daemon-already-running': {
    reason: 'Another daemon already serves this fleet.',
    remedy: 'Use the running daemon; idunn status shows it.',
    blame: 'user',
    retry: 'final',
  },
  'daemon-answer-unexpected': {
    reason: 'The daemon answered with something that is no answer of its API.',
    remedy: 'Run idunn doctor, and look at the daemon log.',
    blame: 'system',
    retry: 'retryable',
  },
  'daemon-failed': {
    reason: 'The daemon met a fault of its own while it answered; nothing was acted on.',
    remedy: 'Look at the daemon log in the fleet’s log directory, then repeat the command with its operation id.',
    blame: 'system',
    retry: 'retryable',
  },
  'daemon-silent': {
    reason: 'The daemon is there and does not answer.',
    remedy:
      'Wait while its machine is busy. A process that is stopped goes on with SIGCONT; one that hangs is ended with SIGKILL, and idunn daemon --detach starts the next: what runs stays up.',
    blame: 'system',
    retry: 'retryable',
  },
  'daemon-start-failed': {
    reason: 'The daemon ended before it could answer.',
    remedy: 'Read the lines of its log that are shown, correct the cause, and run idunn daemon again.',
    blame: 'system',
    retry: 'retryable',
  },
  'daemon-unreachable': {
    reason: 'No daemon answers on the fleet’s socket.',
    remedy: 'Run idunn daemon --detach.',
    blame: 'user',
    retry: 'retryable',
  },
  'files-unusable': {
    reason: 'A file or directory that Idunn keeps cannot be used.',
    remedy:
      'Correct what the message names: its permissions, what lies in its place, or the room on its disk; then run the command again.',
    blame: 'user',
    retry: 'retryable',
  },
  'fleet-not-found': {
    reason: 'No fleet was found in any of the places that are searched.',
    remedy: 'Name the directory that holds fleet.toml with --fleet or IDUNN_FLEET.',
    blame: 'user',
    retry: 'final',
  },
  'fleet-pointer-invalid': {
    reason: 'A fleet pointer or fleet file that was found cannot be used.',
    remedy: 'Correct the named file, or name another fleet with --fleet.',
    blame: 'user',
    retry: 'final',
  },
  'init-exists': {
    reason: 'A file that idunn init would write is there already; nothing was written.',
    remedy: 'Keep it and correct it by hand, or move it away and run idunn init again; --print shows what it would be.',
    blame: 'user',
    retry: 'final',
  },
  'init-not-written': {
    reason: 'A file that idunn init proposes could not be written.',
    remedy: 'Correct the permissions or free some space, remove what was written, and run idunn init again.',
    blame: 'user',
    retry: 'retryable',
  },
  'init-repository-unusable': {
    reason: 'The directory is in no Git work tree with a commit on a branch.',
    remedy: 'Run git init, commit the program on a branch, and run idunn init again.',
    blame: 'user',
    retry: 'retryable',
  },
  'init-unrecognised': {
    reason: 'The repository does not show how its program is started.',
    remedy: 'Say it: idunn init -- PROGRAM FILE WORD, for example idunn init -- python3 app.py {port}.',
    blame: 'user',
    retry: 'final',
  },
  'key-rotation-unavailable': {
    reason: 'This version does not rotate keys.',
    remedy: 'Keep the key; if it leaked, bind the service as a new target, which has a new signer.',
    blame: 'user',
    retry: 'final',
  },
  'key-unknown': {
    reason: 'The fleet holds no key of that name.',
    remedy: 'Run idunn key list.',
    blame: 'user',
    retry: 'final',
  },
  'log-absent': {
    reason: 'The target has no log, because nothing of it was ever started.',
    remedy: 'Run idunn up with the target.',
    blame: 'user',
    retry: 'retryable',
  },
  'notifier-secret-unusable': {
    reason: 'The secret or token of a webhook cannot be used, and nothing is sent without it.',
    remedy:
      'Make the file one of the daemon’s user with mode 0600, with whsec_ and 24 to 64 random bytes in base64 for secret_file, or the token alone for token_file; or leave it out.',
    blame: 'user',
    retry: 'final',
  },
  'profile-unknown': {
    reason: 'The fleet file names no profile of that name.',
    remedy: 'Name one of the profiles of fleet.toml.',
    blame: 'user',
    retry: 'final',
  },
  'program-missing': {
    reason: 'A program that Idunn drives is not installed.',
    remedy: 'Install it, and see that it is in a directory of PATH.',
    blame: 'user',
    retry: 'retryable',
  },
  'request-invalid': {
    reason: 'The request does not have the shape that the API documents.',
    remedy: 'Correct the named fields; docs/json.md describes each request.',
    blame: 'user',
    retry: 'final',
  },
  'runtime-directory-volatile': {
    reason: 'The runtime directory is wiped when its user logs out, and what runs would lose its sockets.',
    remedy: 'Run loginctl enable-linger for the user, or name another runtime directory in fleet.toml.',
    blame: 'user',
    retry: 'final',
  },
  'subject-unknown': {
    reason: 'Nothing of that name is known here.',
    remedy:
      'Give a target, a transaction id, a release digest or an incarnation key; the short words of idunn status do too.',
    blame: 'user',
    retry: 'final',
  },
  'target-unknown': {
    reason: 'The fleet has no binding of that target.',
    remedy: 'Run idunn status to see the targets, or add a file for it under bindings in the fleet’s directory.',
    blame: 'user',
    retry: 'final',
  },
  'transaction-unknown': {
    reason: 'No transaction of that id is kept.',
    remedy: 'Run idunn history to see the transactions.',
    blame: 'user',
    retry: 'final',
  },
  'nothing-admitted': {
    reason: 'Nothing of the target is admitted, so there is nothing to verify.',
    remedy: 'Run idunn up on the target first.',
    blame: 'user',
    retry: 'retryable',
  },
  'verify-busy': {
    reason: 'As many verifications as are allowed at once are at work.',
    remedy: 'Run idunn verify again when one of them has ended.',
    blame: 'user',
    retry: 'retryable',
  },
  'words-invalid': {
    reason: 'The words of the command line are not ones that the command takes; nothing was asked.',
    remedy: 'Run idunn --help, or the command with --help, for its words.',
    blame: 'user',
    retry: 'final',
  },
});
