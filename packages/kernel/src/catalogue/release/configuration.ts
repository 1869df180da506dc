import { entries } from '../entry.ts';

export const configurationErrors = entries({
  'configuration-invalid': {
    reason: 'Configuration files have faults of several kinds.',
    remedy: 'Correct each listed line, then run the command again.',
    blame: 'user',
    retry: 'final',
  },
  'toml-syntax': {
    reason: 'A file is not valid TOML.',
    remedy: 'Correct the shown line; run idunn plan to check the file again.',
    blame: 'user',
    retry: 'final',
  },
  'unknown-field': {
    reason: 'A file has a field that its schema does not know.',
    remedy:
      'Remove the field or correct its spelling; docs/recipe.md, docs/binding.md and docs/fleet.md list every field.',
    blame: 'user',
    retry: 'final',
  },
  'missing-field': {
    reason: 'A file lacks a field that its schema requires.',
    remedy: 'Add the named field to the shown table.',
    blame: 'user',
    retry: 'final',
  },
  'invalid-value': {
    reason: 'A field has a value that its schema does not accept.',
    remedy: 'Correct the value of the shown field.',
    blame: 'user',
    retry: 'final',
  },
  'duplicate-name': {
    reason: 'Two entries that must differ have the same name.',
    remedy: 'Rename one of the two shown entries.',
    blame: 'user',
    retry: 'final',
  },
  'undefined-reference': {
    reason: 'A field names something that the file does not declare.',
    remedy: 'Declare what is named, or correct the name.',
    blame: 'user',
    retry: 'final',
  },
  'feature-not-yet-supported': {
    reason: 'The configuration asks for a feature that this version does not act on.',
    remedy: 'Remove the named feature, or wait for the version that supports it.',
    blame: 'user',
    retry: 'final',
  },
  'no-health-contract': {
    reason: 'A recipe declares no health contract, so nothing could ever show that the service is ready.',
    remedy: 'Add a [health] table to the recipe.',
    blame: 'user',
    retry: 'final',
  },
  'not-admitted': {
    reason: 'The recipe asks for something that the binding does not admit.',
    remedy: 'Have the operator add the grant to the binding, or remove the request from the recipe.',
    blame: 'user',
    retry: 'final',
  },
  'not-requested': {
    reason: 'The binding binds state, an endpoint or a route that the recipe does not declare.',
    remedy: 'Declare it in the recipe, or remove it from the binding.',
    blame: 'user',
    retry: 'final',
  },
  'target-mismatch': {
    reason: 'The recipe and the binding name different targets.',
    remedy: 'Make the binding name the recipe of its own target, or correct the target in the recipe.',
    blame: 'user',
    retry: 'final',
  },
  'node-mismatch': {
    reason: 'The binding places its target on another node than this machine.',
    remedy: 'Change node in the binding, or deploy from the machine that it names.',
    blame: 'user',
    retry: 'final',
  },
  'steward-unusable': {
    reason: 'The steward that a binding names is no account that can hold a deployment.',
    remedy: 'Name the login of an existing account other than root, or take the steward out of the binding.',
    blame: 'user',
    retry: 'final',
  },
  'steward-store-overlaps': {
    reason: 'The directory of a steward’s store touches one that is not the steward’s alone.',
    remedy: 'Give the steward’s store a directory of its own, owned by the steward and apart from all others.',
    blame: 'user',
    retry: 'final',
  },
  'state-roots-overlap': {
    reason: 'Two directories that must be apart are the same directory or one is inside the other.',
    remedy: 'Give the target a state root of its own in its binding.',
    blame: 'user',
    retry: 'final',
  },
  'configuration-unreadable': {
    reason: 'A configuration file or directory cannot be read.',
    remedy: 'Create the file or correct its permissions, then run the command again.',
    blame: 'user',
    retry: 'retryable',
  },
  'host-program-missing': {
    reason: 'A program that the binding admits is not an executable file on this machine.',
    remedy: 'Install the program, or correct its path in the binding.',
    blame: 'user',
    retry: 'retryable',
  },
  'host-directory-unreadable': {
    reason: 'A directory of the host that planning must compare could not be looked at.',
    remedy: 'Correct the permissions of the directory, or choose another one in the binding.',
    blame: 'system',
    retry: 'retryable',
  },
  'secret-unusable': {
    reason: 'A secret file that the binding names is missing or can be read by others.',
    remedy: 'Create the secret file and run chmod 600 on it.',
    blame: 'user',
    retry: 'retryable',
  },
  'signer-missing': {
    reason: 'The target has no enrolled service signer on this machine.',
    remedy:
      'Run idunn key create on the target; or where it has a key that cannot be used, mend what the message says of it.',
    blame: 'user',
    retry: 'retryable',
  },
});
