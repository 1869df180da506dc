import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs';
import { messageOf } from './proc.ts';

const ELF = Buffer.from('\x7fELF', 'latin1');
const SCRIPT = Buffer.from('#!', 'latin1');

/**
 * Why a file is no program that the kernel itself would run; `null` when it is one. Anything else is refused here,
 * because `execvp` would hand it to a shell.
 */
export function whyNoProgram(file: string): string | null {
  try {
    accessSync(file, constants.X_OK);
    const descriptor = openSync(file, 'r');
    try {
      const head = Buffer.alloc(ELF.length);
      readSync(descriptor, head);
      const fits = head.equals(ELF) || head.subarray(0, SCRIPT.length).equals(SCRIPT);
      return fits ? null : 'it is neither an ELF program nor a script that names its interpreter';
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return messageOf(error);
  }
}
