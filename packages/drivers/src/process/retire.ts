import { join } from 'node:path';
import { type ActivationFiles, isSegment } from './activation-directory.ts';
import { DRAFT, isDirectory, namesIn, removeEmpty, unlinkIfThere } from './files.ts';
import { takeBack } from './user/give.ts';

/**
 * Removes the named files of an activation, keys and secrets first, the ticket last: a retirement that died half-way
 * never looks like an activation that was not started yet. What a program left there of its own stays.
 */
export async function removeActivation(files: ActivationFiles): Promise<void> {
  const { program, attendant } = files.keys;
  await takeBack(files.directory);
  for (const file of [program.activation, program.signer, attendant.activation, attendant.signer]) {
    await unlinkIfThere(file);
  }
  await takeBack(files.secrets);
  for (const secrets of [files.secrets, files.keptSecrets]) await removeSecrets(secrets);
  const { launch, document, activation, socket, alive, process, orders, gate, opened } = files;
  for (const file of [document, socket, orders, gate, opened, activation, alive, process]) await unlinkIfThere(file);
  for (const directory of [files.directory, files.own]) {
    for (const name of await namesIn(directory)) {
      if (name.endsWith(DRAFT)) await unlinkIfThere(join(directory, name));
    }
  }
  await removeEmpty(files.directory);
  await unlinkIfThere(launch);
  await unlinkIfThere(files.ticket);
  await removeEmpty(files.own);
}

/** A program may have put a link in the place of its directory. */
async function removeSecrets(directory: string): Promise<void> {
  if (!isDirectory(directory)) return unlinkIfThere(directory);
  for (const name of await namesIn(directory)) {
    if (isSegment(name)) await unlinkIfThere(join(directory, name));
  }
  await removeEmpty(directory);
}
