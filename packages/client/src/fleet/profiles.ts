import { join } from 'node:path';
import { FLEET_FILE, readField } from './locate.ts';

/** The names of a fleet's profiles, read leniently: none where the file cannot be read. For completion. */
export async function profileNames(directory: string): Promise<readonly string[]> {
  const profiles = await readField(join(directory, FLEET_FILE), (file) => file['profiles']);
  return typeof profiles === 'object' && profiles !== null ? Object.keys(profiles).toSorted() : [];
}
