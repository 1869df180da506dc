import type { RefusalAnswer } from '@idunn/client';
import { refusal } from '@idunn/kernel';
import { type Command, CommanderError } from 'commander';
import { refuse } from './context.ts';
import type { Environment } from './edge/environment.ts';
import { EXIT } from './exit.ts';
import { program } from './program.ts';

/** Runs the words of the command line; answers the exit code. Nothing is done before all of them are checked (F6). */
export async function run(environment: Environment): Promise<number> {
  let code: number = EXIT.done;
  const idunn = program(environment, (result) => {
    code = result;
  });
  const json = environment.argv.includes('--json');
  let wrong = '';
  const output = {
    writeOut: (text: string) => environment.out.write(text),
    writeErr: (text: string) => (json ? (wrong += text) : environment.err.write(text)),
    getOutHelpWidth: () => environment.out.columns,
    getErrHelpWidth: () => environment.err.columns,
  };
  const everyCommand = [idunn, ...idunn.commands, ...idunn.commands.flatMap((command) => command.commands)];
  for (const command of everyCommand) {
    const words = command === idunn ? 'idunn' : fullName(command);
    command.configureOutput(output).exitOverride();
    command.showHelpAfterError(`${words} --help shows the words that it takes.`);
  }
  try {
    await idunn.parseAsync(wholeFleet(environment.argv), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return refuse(environment, json, unusable(error));
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    if (json) refuse(environment, json, wrongWords(error, wrong));
    return EXIT.usage;
  }
}

/** A file that the system does not let us read or write is nothing of ours: no trace, but what to do. */
const unusable = ({ message }: Error): RefusalAnswer => refusal('files-unusable', message) as RefusalAnswer;

/** `--fleet` names a directory; for a stop, with nothing after it, it means every target of the fleet. */
function wholeFleet(argv: readonly string[]): readonly string[] {
  const isStop = argv.some((word, index) => (word === 'freeze' || word === 'hold') && VERBS.has(argv[index + 1] ?? ''));
  if (!isStop) return argv;
  return argv.map((word, index) =>
    word === '--fleet' && (argv[index + 1] ?? '-').startsWith('-') ? '--whole-fleet' : word,
  );
}
const VERBS: ReadonlySet<string> = new Set(['engage', 'clear', 'status']);

const fullName = (command: Command): string =>
  command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;

/** What commander said of the words, as a refusal for those who read JSON. */
function wrongWords({ code }: CommanderError, said: string): RefusalAnswer {
  const [line = ''] = said.split('\n');
  const reason = code === 'commander.help' ? 'a command is missing' : line.replace(/^error: /, '');
  return { code: 'words-invalid', reason, remedy: 'Run idunn --help, or the command with --help, for its words.' };
}
