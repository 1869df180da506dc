import type { ObserverPort } from '@idunn/authority';
import type { Outcome } from '@idunn/kernel';
import type { BootstrapCorrelator } from './bootstrap-correlator.ts';
import type { ObserverLink } from './observer-link.ts';

/**
 * Who correlates which target: the observer every target but its own. Its own is published to the daemon's bootstrap
 * correlator, and to the observer that is linked; while that one works, its word about another incarnation of itself,
 * the upgrade that is to take its place, is the word that counts. No observer is asked about itself.
 *
 * @example
 * const observerFor = chooseObserver({ observerTarget: 'observer', link, bootstrap });
 */
export function chooseObserver(parts: {
  readonly observerTarget: string;
  readonly link: ObserverLink;
  readonly bootstrap: BootstrapCorrelator;
}): (target: string) => ObserverPort {
  const { observerTarget, link, bootstrap } = parts;

  /** The incumbent is told as well, but one that cannot take it does not keep itself from being replaced. */
  async function tellBoth(
    tell: (port: ObserverPort) => Promise<Outcome<'acknowledged'>>,
  ): Promise<Outcome<'acknowledged'>> {
    const outcome = await tell(bootstrap);
    if (outcome.ok && link.peer() !== null) await tell(link);
    return outcome;
  }

  const own: ObserverPort = {
    publishExpected: (key, expected) => tellBoth((port) => port.publishExpected(key, expected)),
    publishActivation: (activation, observed) => tellBoth((port) => port.publishActivation(activation, observed)),
    demote: (key, activation) => tellBoth((port) => port.demote(key, activation)),
    withdraw: (key) => tellBoth((port) => port.withdraw(key)),
    read(key) {
      const peer = link.peer();
      if (peer !== null && peer.incarnation !== key) {
        const word = link.read(key);
        if (word.kind === 'seen' && word.value.activation !== null) return word;
      }
      return bootstrap.read(key);
    },
    subscribe(listener) {
      bootstrap.subscribe(listener);
      link.subscribe((event) => {
        // A link that comes or goes may change whose word counts.
        if (event.kind === 'link' || event.correlation.incarnation.startsWith(`${observerTarget}@`)) listener(event);
      });
    },
  };

  return (target) => (target === observerTarget ? own : link);
}
