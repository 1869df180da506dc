import { entries } from './entry.ts';

export const kernelErrors = entries({
  'key-readable-by-others': {
    reason: 'A private key file can be read by others than its owner.',
    remedy: 'Run chmod 600 on the key file, and replace the key if somebody may have read it.',
    blame: 'user',
    retry: 'final',
  },
  'key-missing': {
    reason: 'A key file or its public record is not there.',
    remedy: 'Restore the file from its backup; idunn key create makes the signer of a target that has none.',
    blame: 'user',
    retry: 'final',
  },
  'key-malformed': {
    reason: 'A key file or its public record does not have the form of a key.',
    remedy: 'Restore the file from its backup, or move it away and run idunn key create for a new one.',
    blame: 'user',
    retry: 'final',
  },
  'key-exists': {
    reason: 'A key is there already, and a key is never overwritten.',
    remedy: 'Use the key that is there; idunn key show prints its public half.',
    blame: 'user',
    retry: 'final',
  },
  'key-wrong-purpose': {
    reason: 'A key was used for something it was not made for.',
    remedy: 'Name a key of the right purpose in the configuration; idunn key list shows the purpose of each.',
    blame: 'user',
    retry: 'final',
  },
  'key-not-yet-valid': {
    reason: 'A key was used before its span of validity began.',
    remedy: 'Wait until the key is valid, or check the clock of the machine with the date command.',
    blame: 'user',
    retry: 'retryable',
  },
  'key-expired': {
    reason: 'A key was used after its span of validity had ended.',
    remedy: 'Bind the service as a new target, which has a new signer; idunn key list shows the keys.',
    blame: 'user',
    retry: 'final',
  },
  'key-retired': {
    reason: 'A retired key was used for something new.',
    remedy: 'Use the key that took its place; idunn key list shows which keys are in use.',
    blame: 'user',
    retry: 'final',
  },
  'envelope-malformed': {
    reason: 'A signed message does not have the form that its kind requires.',
    remedy: 'Update the program that sent it, so that it speaks the documented protocol.',
    blame: 'system',
    retry: 'final',
  },
  'envelope-too-large': {
    reason: 'A signed message is larger than its limit.',
    remedy: 'Make the message shorter in the program that sent it; the limits are in docs/workload-protocol.md.',
    blame: 'system',
    retry: 'final',
  },
  'envelope-not-signed': {
    reason: 'A signed message lacks a valid signature of a key that had to sign it.',
    remedy: 'Run idunn inspect on the target and compare the keys that it names with those of the sender.',
    blame: 'user',
    retry: 'final',
  },
  'envelope-wrong-schema': {
    reason: 'A signed message is of another kind or version than was asked for.',
    remedy: 'Update the program that sent it to the version that matches this one.',
    blame: 'system',
    retry: 'final',
  },
  'envelope-wrong-issuer': {
    reason: 'A signed message names another issuer than the key that signed it.',
    remedy: 'Correct the key of the program that sent it; the issuer is the id of the first signing key.',
    blame: 'user',
    retry: 'final',
  },
  'envelope-wrong-audience': {
    reason: 'A signed message is meant for another fleet or machine.',
    remedy: 'Correct the fleet and machine in the configuration of the program that sent it.',
    blame: 'user',
    retry: 'final',
  },
  'envelope-wrong-subject': {
    reason: 'A signed message is about something else than was asked.',
    remedy: 'Run idunn up on the target with a new commit, so that its program speaks for its own activation.',
    blame: 'user',
    retry: 'final',
  },
  'store-locked': {
    reason: 'Another process holds the record store.',
    remedy: 'Run idunn status to reach the daemon that holds it, or stop that daemon first.',
    blame: 'user',
    retry: 'retryable',
  },
  'store-full': {
    reason: 'The disk of the record store is full.',
    remedy:
      'Free space on the disk of the state directory; nothing was changed, and the same command can be given again.',
    blame: 'system',
    retry: 'retryable',
  },
  'store-write-failed': {
    reason: 'The record store could not be written.',
    remedy:
      'Check that the state directory is mounted writable and belongs to the user of the daemon, its disk and the kernel log; then restart the daemon.',
    blame: 'system',
    retry: 'retryable',
  },
  'store-unreadable': {
    reason: 'The record store, or a record in it, cannot be read.',
    remedy: 'End the daemon and put the state directory back from its last backup; nothing was changed.',
    blame: 'system',
    retry: 'final',
  },
  'store-version-unknown': {
    reason: 'The record store holds a record of a version that this program does not know.',
    remedy: 'Start the version of Idunn that wrote the store, or a newer one.',
    blame: 'user',
    retry: 'final',
  },
});
