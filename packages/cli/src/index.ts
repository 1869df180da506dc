import { processEnvironment } from './edge/environment.ts';
import { run } from './run.ts';

/** The `idunn` command, on the process's own arguments. */
export async function main(): Promise<void> {
  process.exitCode = await run(processEnvironment());
}
