import { join } from 'node:path';
import { type ActivationFiles, isSegment } from './activation-directory.ts';
import { DRAFT, namesIn, removeEmpty, unlinkIfThere } from './files.ts';

/**
 * Removes the named files of an activation directory, keys and secrets first, the ticket last: a retirement that died
 * half-way never looks like an activation that was not started yet. What a program left there of its own stays.
 */
export async function removeActivation(files: ActivationFiles): Promise<void> {
  await unlinkIfThere(files.activationKey);
  await unlinkIfThere(files.signerKey);
  for (const name of await namesIn(files.secrets)) {
    if (isSegment(name)) await unlinkIfThere(join(files.secrets, name));
  }
  await removeEmpty(files.secrets);
  const { launch, activation, socket, alive, process, orders, gate, opened } = files;
  for (const file of [launch, activation, socket, alive, process, orders, gate, opened]) await unlinkIfThere(file);
  for (const name of await namesIn(files.directory)) {
    if (name.endsWith(DRAFT)) await unlinkIfThere(join(files.directory, name));
  }
  await unlinkIfThere(files.ticket);
  await removeEmpty(files.directory);
}
