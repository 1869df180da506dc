import { entries } from './entry.ts';

export const routerErrors = entries({
  'router-unreachable': {
    reason: 'The router of this fleet does not answer on its control socket.',
    remedy:
      'One that has ended is started again by itself; one that hangs is not: end the process that this message names with kill -9, and another takes its place. router.log.stderr in the log directory says more.',
    blame: 'system',
    retry: 'retryable',
  },
  'router-answer-lost': {
    reason: 'The router was asked, but its answer did not arrive: the change may or may not have been made.',
    remedy: 'Run idunn status to see what is served before you act.',
    blame: 'system',
    retry: 'retryable',
  },
  'router-start-failed': {
    reason: 'The router program could not be started.',
    remedy: 'Read the last lines of the router log, which idunn doctor shows, and run idunn doctor again.',
    blame: 'system',
    retry: 'retryable',
  },
  'router-already-running': {
    reason: 'A router of this fleet is running already.',
    remedy: 'Use the running one; run idunn doctor when it does not answer.',
    blame: 'system',
    retry: 'final',
  },
  'router-busy': {
    reason: 'The router holds something in its memory that its successor could not take over yet.',
    remedy: 'Nothing needs to be done: it goes on serving, and is replaced when it is asked for again after that.',
    blame: 'system',
    retry: 'retryable',
  },
  'router-state-unreadable': {
    reason: 'The router cannot read its state file, and it never starts empty in its place.',
    remedy:
      'Restore the router state file from a backup; or move it and its journal away, start again, and run idunn up for each target.',
    blame: 'system',
    retry: 'final',
  },
  'router-state-not-written': {
    reason: 'The router could not write its state file; what it served before, it goes on serving.',
    remedy: 'Make space on the disk of the state directory, or mend its permissions, and run the command again.',
    blame: 'system',
    retry: 'retryable',
  },
  'router-state-not-synced': {
    reason: 'The router replaced its state file, but the sync of its directory was not confirmed.',
    remedy: 'Run the command again; a repeat confirms it.',
    blame: 'system',
    retry: 'retryable',
  },
  'router-protocol-differs': {
    reason: 'The running router speaks another version of the control protocol.',
    remedy: 'Stop the running router; it is started again from the installed files and serves its last snapshot.',
    blame: 'system',
    retry: 'final',
  },
  'router-fleet-differs': {
    reason: 'The router behind the control socket belongs to another fleet.',
    remedy: 'Give each fleet a runtime directory of its own in fleet.toml.',
    blame: 'user',
    retry: 'final',
  },
  'router-request-invalid': {
    reason: 'A control request to the router was malformed or beyond a limit.',
    remedy: 'Correct the values that are named in the binding, and run the command again.',
    blame: 'user',
    retry: 'final',
  },
  'router-limit-reached': {
    reason: 'The router has as many routes, connections or observations as it may have.',
    remedy: 'Move some of the targets to a fleet of their own, which has a router of its own.',
    blame: 'system',
    retry: 'retryable',
  },
  'route-unknown': {
    reason: 'The router has no such route.',
    remedy: 'Run idunn up for the target that owns the route.',
    blame: 'system',
    retry: 'final',
  },
  'route-owned-by-another-target': {
    reason: 'The route name belongs to another target of the fleet.',
    remedy: 'Give the route a name of its own in the binding.',
    blame: 'user',
    retry: 'final',
  },
  'route-listener-unavailable': {
    reason: 'The router cannot listen on the address of the stable route.',
    remedy: 'Choose a free address and port in the binding, or end the program that holds it.',
    blame: 'user',
    retry: 'retryable',
  },
  'route-stage-unknown': {
    reason: 'The snapshot to be published is not staged; a newer one took its place or it was never acknowledged.',
    remedy: 'Run idunn status to see what is served; the deployment stages it anew.',
    blame: 'system',
    retry: 'final',
  },
  'request-hold-expired': {
    reason: 'The request was held during a switch of the service for as long as its route allows.',
    remedy: 'Send the request again.',
    blame: 'system',
    retry: 'retryable',
  },
  'request-hold-full': {
    reason: 'The service is being switched, and its route holds as many requests or bytes as it may.',
    remedy: 'Send the request again.',
    blame: 'system',
    retry: 'retryable',
  },
  'request-cut-at-drain': {
    reason: 'The member that had the request left its route and did not answer before the end of its drain.',
    remedy: 'Send the request again if it is safe to repeat.',
    blame: 'system',
    retry: 'retryable',
  },
  'request-unforwardable': {
    reason: 'The request carries something that the router does not forward.',
    remedy: 'Correct the request line or the header.',
    blame: 'user',
    retry: 'final',
  },
  'request-upgrade-unsupported': {
    reason: 'The route forwards no tunnels (CONNECT), and no upgrade of a request that has a body.',
    remedy: 'Connect to the service itself, or send the Upgrade with a request without a body, such as a GET.',
    blame: 'user',
    retry: 'final',
  },
  'request-ambiguous': {
    reason:
      'The request can be read in more than one way: two Host or framing fields, or a target that is not its Host.',
    remedy: 'Send one Host field that names the target, and one way to tell the end of the body.',
    blame: 'user',
    retry: 'final',
  },
  'request-misdirected': {
    reason:
      'No route of this address has the name that the request is for, or its connection was made for another name.',
    remedy: 'Check the host name and its DNS record; the names of a route are those of its binding, route.names.',
    blame: 'user',
    retry: 'final',
  },
  'route-certificate-unusable': {
    reason: 'A certificate of the route cannot be served; where an earlier one was loaded, that one is served on.',
    remedy:
      'Put a PEM certificate with its chain and its private key in place, readable by the user of Idunn and, the key, by nobody else; it is read again by itself.',
    blame: 'user',
    retry: 'retryable',
  },
  'route-certificate-expiring': {
    reason: 'A certificate that the route serves runs out soon, or has run out.',
    remedy: 'Renew it and put the new pair in the place of the old one; it is read again by itself.',
    blame: 'user',
    retry: 'retryable',
  },
  'route-without-member': {
    reason: 'The route has no member that could answer.',
    remedy: 'Run idunn status; idunn up brings the target up.',
    blame: 'system',
    retry: 'retryable',
  },
  'backend-unreachable': {
    reason: 'The member of the route could not be connected to; the request was not sent.',
    remedy: 'Send the request again; idunn status shows whether the service is being restarted.',
    blame: 'system',
    retry: 'retryable',
  },
  'backend-answer-lost': {
    reason: 'The member of the route ended the connection before it answered; the request may have been carried out.',
    remedy: 'Check whether the request took effect before you repeat it.',
    blame: 'system',
    retry: 'retryable',
  },
  'backend-answer-late': {
    reason: 'The member of the route did not answer in time; the request may have been carried out.',
    remedy: 'Check whether the request took effect before you repeat it.',
    blame: 'system',
    retry: 'retryable',
  },
});
