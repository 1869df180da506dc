import { dirname, join } from 'node:path';
import { type ActivationFiles, isSegment } from './activation-directory.ts';
import { createPrivate, DRAFT, isDirectory, makeDirectory, namesIn, removeEmpty, unlinkIfThere } from './files.ts';
import { takeBack } from './user/give.ts';

/** Marks that are kept: each matters from its retirement until the records have gone on, which takes moments. */
const MARKS_LIMIT = 1_000;

/**
 * Says that nobody was left of an activation, before its ticket goes that could show it: who dies before it has
 * recorded the next step must not find an unknown that nothing ends (I6, I9).
 */
export async function markGone(files: ActivationFiles): Promise<void> {
  const directory = dirname(files.gone);
  const marks = await namesIn(directory);
  if (marks.length >= MARKS_LIMIT) for (const mark of marks) await unlinkIfThere(join(directory, mark));
  await makeDirectory(directory);
  await createPrivate(files.gone, '');
}

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
