import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type Outcome, ok, readPlainFile } from '@idunn/kernel';
import { type BindingDocument, parseBinding } from '../binding/parse.ts';
import { type Fault, faultsOf, refusedFaults } from '../configuration/fault.ts';
import { type Account, resolveDirectories } from '../fleet/directories.ts';
import { assembleFleet, type Fleet } from '../fleet/fleet.ts';
import { type FleetDocument, parseFleet } from '../fleet/parse.ts';

const BINDINGS_LIMIT = 10_000;
/** Largest file that is read. */
const FILE_LIMIT_BYTES = 1_048_576;

/**
 * Reads `fleet.toml` and `bindings/*.toml`. Refused with the faults of all files at once. To go on with the bindings
 * that are valid, use `readFleet`.
 */
export async function loadFleet(directory: string, account: Account): Promise<Outcome<Fleet>> {
  const { fleet, faults } = await readFleet(directory, account);
  return fleet === null || faults.length > 0 ? refusedFaults(faults) : ok(fleet);
}

/**
 * The fleet with every valid binding, beside the faults of the others; `fleet` is `null` when fleet.toml itself is
 * faulty.
 */
export async function readFleet(
  directory: string,
  account: Account,
): Promise<{ readonly fleet: Fleet | null; readonly faults: readonly Fault[] }> {
  const root = resolve(directory);
  const faults: Fault[] = [];
  const collect = <T>(outcome: Outcome<T> | Fault): T | null => {
    if (!('ok' in outcome)) faults.push(outcome);
    else if (outcome.ok) return outcome.value;
    else faults.push(...faultsOf(outcome.refusal));
    return null;
  };
  const fleet = collect<FleetDocument>(await readAnd(join(root, 'fleet.toml'), parseFleet));
  const bindings: BindingDocument[] = [];
  const unread: string[] = [];
  for (const file of await bindingFiles(join(root, 'bindings'), faults)) {
    const binding = collect<BindingDocument>(await readAnd(file, parseBinding));
    if (binding === null) unread.push(basename(file, '.toml'));
    else bindings.push(binding);
  }
  if (fleet === null) return { fleet: null, faults };
  const directories = resolveDirectories(root, fleet.fleet, account);
  const assembled = assembleFleet(root, fleet, directories, bindings, unread);
  return { fleet: assembled.fleet, faults: [...faults, ...assembled.faults] };
}

async function readAnd<T>(
  file: string,
  parse: (text: string, file: string) => Outcome<T>,
): Promise<Outcome<T> | Fault> {
  let bytes: Buffer | null;
  try {
    bytes = await readPlainFile(file, { limitBytes: FILE_LIMIT_BYTES, followLink: true });
  } catch (error) {
    return unreadable(file, (error as Error).message);
  }
  if (bytes === null) return unreadable(file, 'it is not there');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? parse(text, file) : unreadable(file, 'it is not valid UTF-8');
}

/** A fleet without a bindings directory has no targets yet; one that cannot be read is a fault. */
async function bindingFiles(directory: string, faults: Fault[]): Promise<readonly string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => name.endsWith('.toml') && !name.startsWith('.'));
    if (names.length <= BINDINGS_LIMIT) return names.toSorted().map((name) => join(directory, name));
    faults.push(unreadable(directory, `it holds more than ${BINDINGS_LIMIT} bindings`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      faults.push(unreadable(directory, (error as Error).message));
  }
  return [];
}

const unreadable = (file: string, because: string): Fault => ({
  code: 'configuration-unreadable',
  file,
  line: 1,
  column: 1,
  text: '',
  field: '',
  message: `the file cannot be read: ${because}`,
});
