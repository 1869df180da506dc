import { basename, join } from 'node:path';
import { type Outcome, ok } from '@idunn/kernel';
import { type Account, type Fault, type Fleet, loadFleet, readFleet } from '@idunn/release';

/**
 * The fleet's files as they stand, read anew whenever somebody asks: the bytes are what counts, not a memory of them.
 */
export interface FleetSource {
  readonly directory: string;
  /**
   * Reads the files; a fleet.toml that became faulty leaves the last good fleet in force, with its faults beside it.
   */
  read(): Promise<FleetReading>;
  /**
   * Reads the files for one target's plan. Refused with every fault when fleet.toml or the target's own binding has
   * one: then there is nothing to plan by, whatever was good before.
   */
  readFor(target: string): Promise<Outcome<FleetReading>>;
  /** What the last reading saw. */
  readonly last: FleetReading;
}

export interface FleetReading {
  readonly fleet: Fleet;
  readonly faults: readonly Fault[];
  /** Every target that has a binding file, a faulty one included: its `up` is then rejected with the faults. */
  readonly targets: readonly string[];
}

const BINDING = '.toml';

/** Opens a fleet whose fleet.toml is faultless; refused with every fault of all files when it is not. */
export async function openFleet(directory: string, account: Account): Promise<Outcome<FleetSource>> {
  const bindings = join(directory, 'bindings');
  const reading = (fleet: Fleet, faults: readonly Fault[]): FleetReading => {
    const faulty = faults
      .filter(({ file }) => file.startsWith(`${bindings}/`) && file.endsWith(BINDING))
      .map(({ file }) => basename(file, BINDING));
    const targets = [...new Set([...fleet.bindings.keys(), ...faulty])].toSorted((a, b) => a.localeCompare(b));
    return { fleet, faults, targets };
  };
  const first = await readFleet(directory, account);
  if (first.fleet === null) {
    const refused = await loadFleet(directory, account);
    return refused.ok ? openFleet(directory, account) : refused; // Somebody corrected it in between.
  }
  let last = reading(first.fleet, first.faults);
  const read = async (): Promise<FleetReading> => {
    const { fleet, faults } = await readFleet(directory, account);
    last = reading(fleet ?? last.fleet, faults);
    return last;
  };
  return ok({
    directory,
    get last() {
      return last;
    },
    read,
    async readFor(target) {
      const now = await read();
      const broken = now.faults.some(({ file }) => file === join(directory, 'fleet.toml'));
      if (!broken && (now.fleet.bindings.has(target) || !now.targets.includes(target))) return ok(now);
      const loaded = await loadFleet(directory, account);
      return loaded.ok ? ok(now) : loaded;
    },
  });
}
