import { type Command, Option } from 'commander';
import { portNumber, slotName, wholeNumberTo } from './arguments.ts';
import type { Environment } from './edge/environment.ts';

type Finish = (code: number) => void;

const workload = () => new Option('--workload <name>', 'KIND/NAME, or a fleet’s target').makeOptionMandatory();
const deadline = () =>
  new Option('--deadline <seconds>', 'how long each step may take').argParser(wholeNumberTo(86_400)).default(600);
const allowSkip = () => new Option('--allow-skip', 'pass over rungs between the two; they are told');
const scratch = () => new Option('--scratch <directory>', 'where the copy lies meanwhile (default: the system’s own)');

const FILES = `
The ladder file is --ladder, else IDUNN_LADDER, else ladder.yaml here; the places file is --places, else places.yaml
beside it. A guarded slot asks for two keys: --allow-guarded, and IDUNN_ALLOW_GUARDED=1 in the environment.`;

/** Every command that reads the two files takes them; one that changes something takes its key and its dry run too. */
const reading = (command: Command): Command =>
  command
    .option('--ladder <file>', 'the ladder file')
    .option('--places <file>', 'what runs the slots and where their data is')
    .addHelpText('after', FILES);
const changing = (command: Command): Command =>
  reading(command)
    .option('--dry-run', 'print the plan, and touch nothing')
    .option('--allow-guarded', 'the first key to a guarded slot');

/** `idunn ladder …` and `idunn bundle …`. A command's code is loaded when it runs. */
export function ladderCommands(idunn: Command, environment: Environment, finish: Finish): void {
  const ladder = idunn.command('ladder').description('environments: code moves up, data moves down');
  lookingCommands(ladder, environment, finish);
  movingCommands(ladder, environment, finish);
  generationCommands(ladder, environment, finish);
  bundleCommands(idunn, environment, finish);
}

function lookingCommands(ladder: Command, environment: Environment, finish: Finish): void {
  reading(ladder.command('check'))
    .description('read the ladder file and its places, and report every mistake')
    .action(async (_options, command: Command) => {
      const { check } = await import('./commands/ladder/read.ts');
      finish(await check(environment, command.optsWithGlobals()));
    });
  reading(ladder.command('show'))
    .description('every slot, with what the file says of it')
    .action(async (_options, command: Command) => {
      const { show } = await import('./commands/ladder/read.ts');
      finish(await show(environment, command.optsWithGlobals()));
    });
  reading(ladder.command('graph'))
    .description('the ladder, lowest rung first; --json is what a viewer reads')
    .option('--observe', 'look at what runs in each slot')
    .action(async (_options, command: Command) => {
      const { graph } = await import('./commands/ladder/read.ts');
      finish(await graph(environment, command.optsWithGlobals()));
    });
  reading(ladder.command('compare'))
    .description('what runs in two slots, and what copying the data down would lose')
    .argument('<from>', 'the slot whose data would be copied', slotName)
    .argument('<to>', 'the slot that would get it', slotName)
    .action(async (from: string, to: string, _options, command: Command) => {
      const { compare } = await import('./commands/ladder/read.ts');
      finish(await compare(environment, from, to, command.optsWithGlobals()));
    });
  reading(ladder.command('generations'))
    .description('the generations of a slot, the newest first')
    .argument('<slot>', 'a slot', slotName)
    .action(async (slot: string, _options, command: Command) => {
      const { generations } = await import('./commands/ladder/read.ts');
      finish(await generations(environment, slot, command.optsWithGlobals()));
    });
}

function movingCommands(ladder: Command, environment: Environment, finish: Finish): void {
  changing(ladder.command('promote'))
    .description('move code up: what runs in one slot becomes what runs in the next')
    .argument('<from>', 'the lower slot', slotName)
    .argument('<to>', 'the slot that changes', slotName)
    .addOption(workload())
    .option('--release <release>', 'this release instead of what runs below')
    .addOption(allowSkip())
    .addOption(deadline())
    .action(async (from: string, to: string, _options, command: Command) => {
      const { promote } = await import('./commands/ladder/code.ts');
      finish(await promote(environment, from, to, command.optsWithGlobals()));
    });
  changing(ladder.command('rollout'))
    .description('move one workload of a slot to a release, and back when it fails')
    .argument('<slot>', 'the slot that changes', slotName)
    .addOption(workload())
    .requiredOption('--release <release>', 'an image, or a build')
    .addOption(deadline())
    .action(async (slot: string, _options, command: Command) => {
      const { rolloutTo } = await import('./commands/ladder/code.ts');
      finish(await rolloutTo(environment, slot, command.optsWithGlobals()));
    });
  changing(ladder.command('copy'))
    .description('copy data down, and take out of the copy what would act on the world')
    .argument('<from>', 'the slot whose data is copied', slotName)
    .argument('<to>', 'the slot whose data is replaced', slotName)
    .addOption(allowSkip())
    .option('--confirm <slot>', 'the name of the slot whose newer data is given up', slotName)
    .addOption(scratch())
    .action(async (from: string, to: string, _options, command: Command) => {
      const { copy } = await import('./commands/ladder/copy.ts');
      finish(await copy(environment, from, to, command.optsWithGlobals()));
    });
}

function generationCommands(ladder: Command, environment: Environment, finish: Finish): void {
  const routed = (command: Command): Command =>
    changing(command)
      .requiredOption('--host <host>', 'the host of the slot that is led elsewhere')
      .requiredOption('--service <name>', 'the service that it leads to')
      .addOption(new Option('--port <port>', 'its port').argParser(portNumber).makeOptionMandatory())
      .option('--tls <certificate>', 'the name of the host’s certificate')
      .addOption(deadline());
  routed(ladder.command('raise'))
    .description('raise a new generation of a slot, and switch the host to it as the last thing')
    .argument('<slot>', 'the slot', slotName)
    .requiredOption('--manifests <directory>', 'a file PHASE.yaml for each phase')
    .action(async (slot: string, _options, command: Command) => {
      const { raise } = await import('./commands/ladder/generation.ts');
      finish(await raise(environment, slot, command.optsWithGlobals()));
    });
  routed(ladder.command('switch'))
    .description('lead a host of a slot to another of its generations')
    .argument('<slot>', 'the slot', slotName)
    .argument('<to>', 'the generation')
    .action(async (slot: string, to: string, _options, command: Command) => {
      const { switchTo } = await import('./commands/ladder/generation.ts');
      finish(await switchTo(environment, slot, to, command.optsWithGlobals()));
    });
  for (const [name, what] of [
    ['sleep', 'scale everything in a slot to nothing, once no host leads there'],
    ['wake', 'scale everything in a slot to what it was, and wait until it is ready'],
  ] as const) {
    changing(ladder.command(name))
      .description(what)
      .argument('<slot>', 'the slot', slotName)
      .option('--namespace <namespace>', 'one of its generations')
      .addOption(deadline())
      .action(async (slot: string, _options, command: Command) => {
        const steps = await import('./commands/ladder/generation.ts');
        finish(await steps[name](environment, slot, command.optsWithGlobals()));
      });
  }
}

function bundleCommands(idunn: Command, environment: Environment, finish: Finish): void {
  const bundle = idunn.command('bundle').description('copies of data, sealed in one file with a manifest beside it');
  reading(bundle.command('seal'))
    .description('seal the data of a slot while it runs')
    .argument('<slot>', 'the slot', slotName)
    .argument('<file>', 'the bundle; FILE.json comes beside it')
    .option('--dry-run', 'print the plan, and touch nothing')
    .addOption(scratch())
    .action(async (slot: string, file: string, _options, command: Command) => {
      const { sealSlot } = await import('./commands/ladder/copy.ts');
      finish(await sealSlot(environment, slot, file, command.optsWithGlobals()));
    });
  bundle
    .command('verify')
    .description('read a bundle to its end: are the bytes what was sealed, and was that whole?')
    .argument('<file>', 'the bundle')
    .action(async (file: string, _options, command: Command) => {
      const { verifyBundle } = await import('./commands/ladder/copy.ts');
      finish(await verifyBundle(environment, file, command.optsWithGlobals()));
    });
  bundle
    .command('unseal')
    .description('unseal a bundle into a directory that is not there yet')
    .argument('<file>', 'the bundle')
    .argument('<directory>', 'where its content comes')
    .option('--accept-incomplete', 'also when the capture was not whole')
    .option('--accept-corrupt', 'also when the bytes are not what was sealed')
    .option('--dry-run', 'print the plan, and touch nothing')
    .action(async (file: string, directory: string, _options, command: Command) => {
      const { unsealBundle } = await import('./commands/ladder/copy.ts');
      finish(await unsealBundle(environment, file, directory, command.optsWithGlobals()));
    });
  bundle
    .command('show')
    .description('what the manifest of a bundle says; the bundle itself is not read')
    .argument('<file>', 'the bundle')
    .action(async (file: string, _options, command: Command) => {
      const { showBundle } = await import('./commands/ladder/copy.ts');
      finish(await showBundle(environment, file, command.optsWithGlobals()));
    });
}
