import { entries } from './entry.ts';

export const readinessErrors = entries({
  'release-not-of-plan': {
    reason: 'A sealed release does not belong to the plan that it is to run under.',
    remedy: 'Run idunn up again, so that the release is sealed from its own plan.',
    blame: 'system',
    retry: 'final',
  },
  'expected-not-publishable': {
    reason: 'A fact of the plan is not a word that may be published.',
    remedy: 'Correct the named fields in the recipe or binding, and run idunn up again.',
    blame: 'user',
    retry: 'final',
  },
  'presence-replayed': {
    reason: 'A presence came with a sequence that was accepted before.',
    remedy: 'Let the program raise the sequence with every presence; idunn logs shows what it sent.',
    blame: 'user',
    retry: 'final',
  },
  'presence-epoch-fell': {
    reason: 'A presence named a lower lease epoch than an earlier one of the same activation.',
    remedy: 'Let the program name only the epoch that it was granted last; idunn status shows the lease.',
    blame: 'user',
    retry: 'final',
  },
  'observer-unreachable': {
    reason: 'The observer cannot be reached, or did not answer in time.',
    remedy:
      'Run idunn status to see the observer: one that has ended is restarted by itself, one that lives and says nothing is replaced by idunn restart observer. What waits for it goes on then.',
    blame: 'system',
    retry: 'retryable',
  },
  'observer-busy': {
    reason: 'Too many requests wait for the observer.',
    remedy: 'Wait until idunn status shows fewer transactions under way, and try again.',
    blame: 'system',
    retry: 'retryable',
  },
  'observer-refused': {
    reason: 'The observer refused a request of the authority.',
    remedy: 'Run idunn logs on the observer to see the request that it refused.',
    blame: 'system',
    retry: 'final',
  },
  'observer-not-built': {
    reason: 'The installed bytes of the observer program are not complete.',
    remedy: 'Install Idunn again, or run npm run build in a checkout of it.',
    blame: 'system',
    retry: 'final',
  },
  'observer-word-dropped': {
    reason: 'A message on the observer link did not belong to this connection.',
    remedy: 'Run idunn doctor to make sure that one observer, with its own key, serves this fleet.',
    blame: 'system',
    retry: 'final',
  },
  'request-replayed': {
    reason: 'A request of the authority came with a sequence that was taken before.',
    remedy: 'Run idunn doctor to make sure that only one daemon speaks for this fleet.',
    blame: 'system',
    retry: 'final',
  },
  'anchor-missing': {
    reason: 'The observer has no trust anchor for the signer that an Expected names.',
    remedy: 'Run idunn key create on the target to enrol its signer, and run idunn up again.',
    blame: 'user',
    retry: 'final',
  },
  'anchor-malformed': {
    reason: 'A trust anchor names a key under an id that is not its own.',
    remedy: 'Compare the id with that of idunn key show, and correct the record that differs.',
    blame: 'user',
    retry: 'final',
  },
  'expected-key-mismatch': {
    reason: 'An Expected was published under a key that is not its own digest.',
    remedy: 'Run idunn up again, so that the incarnation is published under its own key.',
    blame: 'system',
    retry: 'final',
  },
  'expected-foreign': {
    reason: 'An Expected is of another fleet or machine than the observer.',
    remedy: 'Correct the fleet and machine in fleet.toml, and run idunn up again.',
    blame: 'user',
    retry: 'final',
  },
  'expected-unknown': {
    reason: 'The observer holds no Expected under this incarnation.',
    remedy: 'Run idunn up again, so that the incarnation is published before its activation.',
    blame: 'system',
    retry: 'final',
  },
  'expected-too-many': {
    reason: 'The observer holds as many incarnations as its limit allows.',
    remedy: 'Move some of the targets to a fleet of their own, which has an observer of its own.',
    blame: 'user',
    retry: 'retryable',
  },
  'activation-not-current': {
    reason: 'Another activation is current than the one that was to be demoted.',
    remedy: 'Run idunn inspect on the target to see the activation that is current.',
    blame: 'system',
    retry: 'final',
  },
  'activation-past': {
    reason: 'An activation that was demoted can never be current again.',
    remedy: 'Run idunn up on the target with a new commit, so that a new activation is minted.',
    blame: 'system',
    retry: 'final',
  },
});
