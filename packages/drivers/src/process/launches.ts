import { type Evidence, seen, unknown } from '@idunn/kernel';
import { filesNamed, isSegment, keptNames } from './activation-directory.ts';
import { readTicket, type Ticket } from './ticket.ts';

/** The launches that are kept, by their tickets. A ticket never changes, so that of each is read once. */
export class Launches {
  readonly #runtime: string;
  #read: ReadonlyMap<string, Pick<Ticket, 'target' | 'activation'>> = new Map();

  constructor(runtime: string) {
    this.#runtime = runtime;
  }

  /**
   * Those of one target: each ticket is taken before anything is spawned, and is the last to go when its activation is
   * retired. A ticket that cannot be read may be anybody's (I10).
   */
  async of(target: string): Promise<Evidence<readonly string[]>> {
    const kept = new Map<string, Pick<Ticket, 'target' | 'activation'>>();
    for (const name of await keptNames(this.#runtime)) {
      if (!isSegment(name)) continue;
      const files = filesNamed(this.#runtime, name);
      const ticket = this.#read.get(name) ?? readTicket(files);
      if (ticket === 'damaged') return unknown(`the ticket in ${files.own} cannot be read`);
      if (ticket !== null) kept.set(name, { target: ticket.target, activation: ticket.activation });
    }
    this.#read = kept;
    return seen([...kept.values()].filter((launch) => launch.target === target).map(({ activation }) => activation));
  }
}
