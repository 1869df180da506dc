import { basename, join } from 'node:path';
import { type Account, type Fault, type Fleet, readFleet } from '@idunn/release';

/**
 * The fleet's files as they stand, read anew whenever somebody asks: the bytes are what counts, not a memory of them.
 */
export interface FleetSource {
  readonly directory: string;
  /**
   * Reads the files; a fleet.toml that became faulty leaves the last good fleet in force, with its faults beside it.
   */
  read(): Promise<FleetReading>;
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

/** Opens a fleet whose fleet.toml is faultless; answers the faults when it is not. */
export async function openFleet(directory: string, account: Account): Promise<FleetSource | readonly Fault[]> {
  const bindings = join(directory, 'bindings');
  const reading = (fleet: Fleet, faults: readonly Fault[]): FleetReading => {
    const faulty = faults
      .filter(({ file }) => file.startsWith(`${bindings}/`) && file.endsWith(BINDING))
      .map(({ file }) => basename(file, BINDING));
    const targets = [...new Set([...fleet.bindings.keys(), ...faulty])].toSorted((a, b) => a.localeCompare(b));
    return { fleet, faults, targets };
  };
  const first = await readFleet(directory, account);
  if (first.fleet === null) return first.faults;
  let last = reading(first.fleet, first.faults);
  return {
    directory,
    get last() {
      return last;
    },
    async read() {
      const { fleet, faults } = await readFleet(directory, account);
      last = reading(fleet ?? last.fleet, faults);
      return last;
    },
  };
}
