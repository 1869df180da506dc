import { CommanderError } from 'commander';
import type { Environment } from './edge/environment.ts';
import { EXIT } from './exit.ts';
import { program } from './program.ts';

/** Runs the words of the command line; answers the exit code. Nothing is done before all of them are checked (F6). */
export async function run(environment: Environment): Promise<number> {
  let code: number = EXIT.done;
  const idunn = program(environment, (result) => {
    code = result;
  });
  const output = {
    writeOut: (text: string) => environment.out.write(text),
    writeErr: (text: string) => environment.err.write(text),
    getOutHelpWidth: () => environment.out.columns,
    getErrHelpWidth: () => environment.err.columns,
  };
  const everyCommand = [idunn, ...idunn.commands, ...idunn.commands.flatMap((command) => command.commands)];
  for (const command of everyCommand) command.configureOutput(output).exitOverride();
  try {
    await idunn.parseAsync(environment.argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    throw error;
  }
}
