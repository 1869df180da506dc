import type { DossierAnswer, PlanAnswer, SealedReleaseAnswer } from '@idunn/client';
import { programOf, startOf } from './plan.ts';
import { type Style, signsOf } from './style.ts';
import { table } from './table.ts';
import { bytes, duration, plural } from './words.ts';

type Row = readonly [name: string, text: string];

/** What was sealed, from the commit to the process, in the order in which it came about. Digests are whole here. */
export function renderDossier(dossier: DossierAnswer, style: Style): string[] {
  const { plan, release } = dossier;
  return [
    ...section('Source', sourceRows(plan), style),
    ...section('Build', buildRows(plan, release), style),
    ...section('Seal', sealRows(dossier), style),
    ...section('Launch', launchRows(plan), style),
    ...section('Process', processRows(dossier, style), style),
  ];
}

export const section = (name: string, rows: readonly Row[], style: Style): string[] =>
  rows.length === 0 ? [] : ['', style.bold(name), ...table(rows.map(([key, text]) => [`  ${style.dim(key)}`, text]))];

function sourceRows({ source }: PlanAnswer): Row[] {
  return [
    ['origin', source.origin],
    ['ref', `${source.ref} (${source.selection})`],
    ['commit', source.commit],
    ['tree', source.tree],
    ['recipe', `${source.recipePath}  ${source.recipeDigest}`],
    ...source.gitlinks.map(({ path, commit, origin }): Row => ['submodule', `${path} at ${commit} of ${origin}`]),
  ];
}

function buildRows({ inputs, steps }: PlanAnswer, { artifacts, build }: SealedReleaseAnswer): Row[] {
  return [
    ...inputs.map(({ id, url, sha256 }): Row => ['input', `${id}  ${sha256}  ${url}`]),
    ...steps.map(
      ({ id, stage, argv, cwd, timeoutMs }): Row => [
        stage,
        `${id}: ${argv.join(' ')} (in ${cwd}, at most ${duration(timeoutMs)})`,
      ],
    ),
    ...artifacts.map(({ id, kind, digest, files }): Row => {
      const size = files.reduce((sum, file) => sum + file.bytes, 0);
      return ['artifact', `${id}  ${digest}  ${kind}, ${plural(files.length, 'file')}, ${bytes(size)}`];
    }),
    ['build', `${build}, the same in every fleet`],
  ];
}

function sealRows({ release, sealedAt, transaction, directory, receipt }: DossierAnswer): Row[] {
  return [
    ['release', release.release],
    ['installed', directory],
    ['plan', release.plan],
    ['binding', release.bindingDigest],
    ['builder', release.sealedBy],
    ['provenance', `${release.provenance}, signed by the builder`],
    ['sealed', `${sealedAt} in ${transaction}`],
    ...(receipt === null ? [] : [['ready', `${receipt}, the observer’s receipt that it was admitted on`] as const]),
  ];
}

function launchRows(plan: PlanAnswer): Row[] {
  const { launch, health, state, route } = plan;
  const words = launch.args.map((word) => ('literal' in word ? word.literal : `{${word.slot}}`));
  return [
    ['program', programOf(launch)],
    ...(launch.program.kind === 'interpreter' ? [['interpreter', launch.program.digest] as const] : []),
    ...(words.length === 0 ? [] : [['words', words.join(' ')] as const]),
    ...Object.entries(launch.environment).map(
      ([name, value]): Row => ['variable', `${name} = ${'literal' in value ? value.literal : `{${value.slot}}`}`],
    ),
    ...launch.secrets.map(({ name }): Row => ['secret', `${name}, as a file`]),
    ['start', startOf(plan)],
    ['health', health.kind === 'idunn' ? 'it signs its own presence' : `asked every ${duration(health.intervalMs)}`],
    ['state', state === null ? 'none' : `${state.stateId} (${state.schema}) in ${state.root}, fence ${state.fence}`],
    ['route', route === null ? 'none' : `${route.name} on ${route.listen.host}:${route.listen.port}`],
  ];
}

/** What runs, each digest beside the sealed one's verdict. */
function processRows({ process, release }: DossierAnswer, style: Style): Row[] {
  if (process === null) return [];
  const signs = signsOf(style);
  const { observed, because, pid, startTime, controlGroup, endpoint } = process;
  const against = (name: string, found: string | null, sealed: string | null): Row[] => {
    if (found === null) return [];
    const same = found === sealed;
    const mark = same ? style.good(`${signs.yes} as sealed`) : style.bad(`${signs.no} sealed was ${sealed ?? 'none'}`);
    return [[name, `${found}  ${mark}`]];
  };
  const state =
    observed === 'seen'
      ? `pid ${pid}, start ${startTime}`
      : observed === 'absent'
        ? style.bad(`${signs.no} pid ${pid} is gone`)
        : style.note(`${signs.doubt} pid ${pid}: ${because ?? 'unknown'}`);
  return [
    ['observed', state],
    ...against('executable', process.executable, release.executableDigest),
    ...against('entry', process.entry, release.entry?.digest ?? null),
    ...(process.argv === null ? [] : [['argv', process.argv] as const]),
    ...(controlGroup === null ? [] : [['group', controlGroup] as const]),
    ...(endpoint === null ? [] : [['endpoint', `${endpoint.host}:${endpoint.port}`] as const]),
  ];
}
