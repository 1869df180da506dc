import { Command, Option } from 'commander';
import {
  commitName,
  digestName,
  momentName,
  operationName,
  portNumber,
  standingName,
  stores,
  subjectName,
  targetName,
  urlPath,
  wholeNumber,
} from './arguments.ts';
import type { Environment } from './edge/environment.ts';
import { ladderCommands } from './program-ladder.ts';

/** Takes what a command came to: its exit code. */
type Finish = (code: number) => void;

const operation = new Option(
  '--operation-id <id>',
  'repeat the request under this id without running it twice',
).argParser(operationName);
const detach = new Option('--detach', 'return once the command is recorded');
const timeout = new Option('--timeout <seconds>', 'look on for at most so long; nothing is stopped').argParser(
  wholeNumber,
);
const plain = new Option('--plain', 'plain lines, also on a terminal');

const EXAMPLES = `
First steps:
  idunn init --fleet DIR     describe the program of this directory; makes the fleet when there is none
  idunn daemon --detach      start the daemon of the fleet
  idunn plan TARGET          see what would be done
  idunn up TARGET            do it
  idunn status               see what is admitted, and who may write

The fleet is --fleet, else IDUNN_FLEET, else what .idunn.toml here or above names, else ~/.config/idunn, else
/etc/idunn. Exit codes: 0 done, 1 failed, 2 wrong words, 3 refused, 4 still going, 5 aborted, 6 rolled back.`;

/** The whole command tree. A command's code is loaded when it runs, so that `--help` and completion stay quick. */
export function program(environment: Environment, finish: Finish): Command {
  const idunn = new Command('idunn')
    .description('Moves a service from one exact build to the next, with never two writers.')
    .option('--fleet <directory>', 'the directory that holds fleet.toml')
    .option('--json', 'one JSON document, or one object a line, in a documented shape')
    .version('0.1.0', '--version', 'print the version')
    .helpOption('-h, --help', 'print this, and do nothing')
    .addHelpText('after', EXAMPLES)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .exitOverride();

  idunn
    .command('init')
    .description('write a recipe and a binding for a repository, and say what they rest on')
    .argument('[words...]', 'after --: how you start the program, {port} and {state} where Idunn fills them in')
    .option('--repository <directory>', 'the program’s directory in its Git work tree (default: this directory)')
    .option('--target <name>', 'its name in the fleet', targetName)
    .option('--port <port>', 'where its users find it', portNumber)
    .option('--state <store>', 'what it keeps: [ID=]sqlite:FILE or [ID=]files:DIRECTORY', stores)
    .option('--health <path>', 'a path that answers 200 while it is well', urlPath)
    .addOption(
      new Option('--tcp', 'it speaks TCP or WebSocket, not HTTP alone; well while it accepts connections').conflicts([
        'health',
        'embedded',
      ]),
    )
    .option('--embedded', 'it embeds @idunn/workload')
    .option('--print', 'print the files instead of writing them')
    .action(async (words: string[], _options, command: Command) => {
      const { init } = await import('./commands/init.ts');
      finish(await init(environment, words, command.optsWithGlobals()));
    });
  idunn
    .command('daemon')
    .description('run the daemon of the fleet')
    .option('--detach', 'start it in the background and return when it answers')
    .action(async (_options, command: Command) => {
      const { daemon } = await import('./commands/daemon.ts');
      finish(await daemon(environment, command.optsWithGlobals()));
    });
  idunn
    .command('up')
    .description('take a target, or a profile of targets, to the newest admitted commit')
    .argument('<target-or-profile>', 'a target, or profile:NAME', subjectName)
    .option('--ref <ref>', 'another ref that the binding admits')
    .addOption(operation)
    .addOption(detach)
    .addOption(timeout)
    .addOption(plain)
    .action(async (target: string, _options, command: Command) => {
      const { up } = await import('./commands/up.ts');
      finish(await up(environment, target, command.optsWithGlobals()));
    });
  idunn
    .command('plan')
    .description('print what up would do, without touching anything')
    .argument('<target>', 'a target', targetName)
    .option('--ref <ref>', 'another ref that the binding admits')
    .action(async (target: string, _options, command: Command) => {
      const { plan } = await import('./commands/plan.ts');
      finish(await plan(environment, target, command.optsWithGlobals()));
    });
  idunn
    .command('status')
    .description('what is expected, present and ready, of the fleet or of one target')
    .argument('[target]', 'a target', targetName)
    .option('-w, --watch', 'draw it anew as things happen')
    .action(async (target: string | undefined, _options, command: Command) => {
      const { status } = await import('./commands/status.ts');
      finish(await status(environment, target, command.optsWithGlobals()));
    });
  idunn
    .command('history')
    .description('what happened, of the fleet, a target or a transaction')
    .argument('[subject]', 'a target or a transaction id')
    .option('-n, --limit <entries>', 'the newest so many', wholeNumber)
    .action(async (subject: string | undefined, _options, command: Command) => {
      const { history } = await import('./commands/history.ts');
      finish(await history(environment, subject, command.optsWithGlobals()));
    });
  idunn
    .command('logs')
    .description('the log of the process that was launched last')
    .argument('<target>', 'a target', targetName)
    .option('-f, --follow', 'go on as it is written')
    .option('-n, --lines <lines>', 'the last so many', wholeNumber)
    .action(async (target: string, _options, command: Command) => {
      const { logs } = await import('./commands/logs.ts');
      finish(await logs(environment, target, command.optsWithGlobals()));
    });
  idunn
    .command('inspect')
    .description('everything that is known about a target, transaction, release or incarnation')
    .argument('<id>', 'a target, a transaction id, sha256:…, TARGET@sha256:…, or the short words of status')
    .action(async (id: string, _options, command: Command) => {
      const { inspect } = await import('./commands/inspect.ts');
      finish(await inspect(environment, id, command.optsWithGlobals()));
    });
  idunn
    .command('verify')
    .description('check again what is admitted, from its bytes to the running process')
    .argument('<target>', 'a target', targetName)
    .option('--source', 'derive tree and recipe from the origin’s commit too')
    .action(async (target: string, _options, command: Command) => {
      const { verify } = await import('./commands/verify.ts');
      finish(await verify(environment, target, command.optsWithGlobals()));
    });
  idunn
    .command('takeover')
    .description(
      'set aside who stands in a target’s way: a foreign owner of its state, or an activation that no record knows',
    )
    .argument('<target>', 'a target', targetName)
    .option('--confirm <name>', 'the owner, as FLEET/TARGET, or the activation (act-…), which is ended', standingName)
    .addOption(operation)
    .addOption(detach)
    .addOption(timeout)
    .addOption(plain)
    .action(async (target: string, _options, command: Command) => {
      const { takeover } = await import('./commands/takeover.ts');
      finish(await takeover(environment, target, command.optsWithGlobals()));
    });
  idunn
    .command('restart')
    .description('launch what is admitted once more, and hand over to it')
    .argument('<target>', 'a target', targetName)
    .addOption(operation)
    .addOption(detach)
    .addOption(timeout)
    .addOption(plain)
    .action(async (target: string, _options, command: Command) => {
      const { restart } = await import('./commands/restart.ts');
      finish(await restart(environment, target, command.optsWithGlobals()));
    });
  for (const [kind, what] of [
    ['cancel', 'withdraw a transaction before its fence'],
    ['expire', 'end a phase that lasts too long, from warming to route-observed'],
  ] as const) {
    idunn
      .command(kind)
      .description(what)
      .argument('<transaction>', 'a transaction id, as idunn status shows it')
      .addOption(operation)
      .addOption(detach)
      .addOption(timeout)
      .addOption(plain)
      .action(async (transaction: string, _options, command: Command) => {
        const { withdraw } = await import('./commands/restart.ts');
        finish(await withdraw(environment, kind, transaction, command.optsWithGlobals()));
      });
  }
  for (const kind of ['freeze', 'hold'] as const) stopCommands(idunn, environment, finish, kind);
  idunn
    .command('incidents')
    .description('what a person should look at, open now')
    .argument('[target]', 'of this target only')
    .option('--all', 'those that are over as well, with when they closed')
    .action(async (target: string | undefined, _options, command: Command) => {
      const { incidents } = await import('./commands/incidents.ts');
      finish(await incidents(environment, target, command.optsWithGlobals()));
    });
  idunn
    .command('doctor')
    .description('look at everything that a fleet rests on')
    .action(async (_options, command: Command) => {
      const { doctor } = await import('./commands/doctor.ts');
      finish(await doctor(environment, command.optsWithGlobals()));
    });
  authorizeCommand(idunn, environment, finish);
  keyCommands(idunn, environment, finish);
  ladderCommands(idunn, environment, finish);
  completionCommands(idunn, environment, finish);
  return idunn;
}

function authorizeCommand(idunn: Command, environment: Environment, finish: Finish): void {
  idunn
    .command('authorize')
    .description('sign that a commit may be deployed as a target')
    .argument('<target>', 'a target', targetName)
    .option('--commit <id>', 'the full id of the commit', commitName)
    .option('--build <digest>', 'only if sealing comes to exactly this build', digestName)
    .option('--key <file>', 'the authorizer’s key file; by default ~/.config/idunn/authorizer')
    .option('--from <when>', 'not to be deployed before this moment', momentName)
    .option('--until <when>', 'not to be planned by from this moment on', momentName, '7d')
    .option('--sequence <n>', 'the number of this word; by default the next one', wholeNumber)
    .option('--for <fleet>', 'sign for this fleet without its daemon, and print the envelope', targetName)
    .option('--envelope <file>', 'have the daemon keep what was signed elsewhere')
    .option('--list', 'what is authorized, and by whom')
    .action(async (target: string, _options, command: Command) => {
      const { authorize } = await import('./commands/authorize.ts');
      finish(await authorize(environment, target, command.optsWithGlobals()));
    });
}

const STOPPED = { freeze: 'deployments', hold: 'restarts' } as const;

function stopCommands(idunn: Command, environment: Environment, finish: Finish, kind: 'freeze' | 'hold'): void {
  const stop = idunn.command(kind).description(`the stop on ${STOPPED[kind]}`);
  for (const [verb, what] of [
    ['engage', `stop ${STOPPED[kind]} before their next irreversible step`],
    ['clear', `let ${STOPPED[kind]} go on, or replace a record that cannot be read`],
    ['status', 'who stops them, why and since when'],
  ] as const) {
    const command = stop
      .command(verb)
      .description(what)
      .argument('[target]', 'a target; --fleet in its place means all of them', targetName)
      .addOption(new Option('--whole-fleet').hideHelp())
      .option('--store <file>', 'the record itself, without a fleet or a daemon')
      .option('--target-id <id>', 'with --store: the target that the record is about', targetName)
      .option('--owner-user <login>', 'with --store: who owns the record, if not you')
      .action(async (target: string | undefined, _options, self: Command) => {
        const { changeStop } = await import('./commands/stop.ts');
        finish(await changeStop(environment, kind, verb, target, self.optsWithGlobals()));
      });
    if (verb === 'engage') command.requiredOption('--reason <text>', 'why, for whoever meets it');
    if (verb === 'clear') command.option('--reason <text>', 'why, for the record');
  }
}

function keyCommands(idunn: Command, environment: Environment, finish: Finish): void {
  const key = idunn.command('key').description('the keys of the fleet, their public halves only');
  key
    .command('list')
    .description('every key with its purpose')
    .action(async (_options, command: Command) => {
      const { listKeys } = await import('./commands/key.ts');
      finish(await listKeys(environment, command.optsWithGlobals()));
    });
  key
    .command('show')
    .description('one key')
    .argument('<name>', 'its name, as key list prints it, or the file of a key with its path')
    .action(async (name: string, _options, command: Command) => {
      const { showKey } = await import('./commands/key.ts');
      finish(await showKey(environment, name, command.optsWithGlobals()));
    });
  key
    .command('create')
    .description('make the service signer of a target ahead of its first up')
    .argument('<target>', 'a target', targetName)
    .action(async (target: string, _options, command: Command) => {
      const { createKey } = await import('./commands/key.ts');
      finish(await createKey(environment, target, command.optsWithGlobals()));
    });
  key
    .command('authorizer')
    .description('make a key that authorizes releases; it stays with whoever makes it')
    .argument('[file]', 'where its private half goes; by default ~/.config/idunn/authorizer')
    .option('--until <when>', 'it signs nothing from this moment on', momentName, '730d')
    .action(async (file: string | undefined, _options, command: Command) => {
      const { createAuthorizer } = await import('./commands/key.ts');
      finish(await createAuthorizer(environment, file, command.optsWithGlobals()));
    });
  key
    .command('rotate', { hidden: true })
    .argument('<name>')
    .action(async (name: string, _options, command: Command) => {
      const { refuseRotation } = await import('./commands/key.ts');
      finish(refuseRotation(environment, name, command.optsWithGlobals()));
    });
}

function completionCommands(idunn: Command, environment: Environment, finish: Finish): void {
  idunn
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(idunn.createArgument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: string) => {
      const { completion } = await import('./commands/completion.ts');
      finish(completion(environment, idunn, shell as 'bash' | 'zsh' | 'fish'));
    });
  idunn
    .command('__targets', { hidden: true })
    .description('the targets of the fleet, one a line, for completion scripts')
    .action(async (_options, command: Command) => {
      const { listTargets } = await import('./commands/completion.ts');
      finish(await listTargets(environment, command.optsWithGlobals(), false));
    });
  idunn
    .command('__subjects', { hidden: true })
    .description('the profiles and targets of the fleet, one a line, for completion scripts')
    .action(async (_options, command: Command) => {
      const { listTargets } = await import('./commands/completion.ts');
      finish(await listTargets(environment, command.optsWithGlobals(), true));
    });
}
