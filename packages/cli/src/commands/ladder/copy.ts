import { resolve } from 'node:path';
import { type Outcome, ok } from '@idunn/kernel';
import {
  type AppData,
  loadInto,
  loadManifest,
  partLines,
  requireComplete,
  type Slot,
  seal,
  unseal,
  verify,
  wouldDiscard,
} from '@idunn/ladder';
import type { Environment } from '../../edge/environment.ts';
import { EXIT } from '../../exit.ts';
import { type Answered, answer, type LadderContext, type LadderOptions, withLadder } from '../../ladder/context.ts';
import { confirmDiscard, stillAgreed } from '../../ladder/discard.ts';
import { meter, metered, sizeOf } from '../../ladder/meter.ts';
import { inScratch } from '../../ladder/scratch.ts';
import { dryRun, printedPlan } from './code.ts';

export interface CopyOptions extends LadderOptions {
  readonly allowSkip?: boolean;
  readonly confirm?: string;
  readonly scratch?: string;
}

/** `idunn ladder copy FROM TO`: data moves down, and what would act on the world is taken out of the copy. */
export const copy = (environment: Environment, from: string, to: string, options: CopyOptions): Promise<number> =>
  withLadder(environment, options, async (context) => {
    const { guard, open, say, auditing } = context;
    const [above, below] = [guard.look({ slot: from }), guard.look({ slot: to })];
    if (!above.ok) return above;
    if (!below.ok) return below;
    const { allowSkip = false } = options;
    if (options.dryRun === true) {
      const allowed = guard.previewMove('data', { slot: from }, { slot: to }, { allowSkip });
      return allowed.ok ? dryRun(renderCopy(above.value, below.value), context, to) : allowed;
    }
    const cleared = await guard.clearDataFlow({ slot: from }, { slot: to }, { allowSkip });
    if (!cleared.ok) return cleared;
    if (cleared.value.skipped.length > 0) say(`left out: ${cleared.value.skipped.join(', ')}`);
    const [source, target] = [await open.data(above.value), await open.data(below.value)];
    if (!source.ok) return source;
    if (!target.ok) return target;
    return inScratch(environment, options.scratch, async (scratch, uninterrupted) => {
      say(`dumping ${source.value.describe()} of ${from}`);
      const report = await metered(environment, 'dumped', scratch, () => source.value.dump(above.value, scratch));
      if (!report.ok) return report;
      for (const line of partLines(report.value.parts)) say(`  ${line}`);
      const whole = requireComplete(report.value.parts);
      if (!whole.ok) return whole;
      const lost = async () => wouldDiscard(report.value.watermark, await target.value.watermark(below.value));
      const discard = await lost();
      const confirmed = await confirmDiscard(context, below.value, discard, options.confirm);
      if (!confirmed.ok) return confirmed;
      say(`loading it into ${to}`);
      const { clearance } = cleared.value;
      const agreed = async () => stillAgreed(below.value, discard, await lost());
      const loading = { data: target.value, clearance, slot: below.value, staging: scratch, auditing, agreed };
      const loaded = await uninterrupted(`${to} is started again first`, () => loadInto(loading));
      if (!loaded.ok) return loaded;
      const { neutralised, parts } = loaded.value;
      const lines = [
        `copied: ${to} holds the data of ${from}.`,
        ...neutralised.map((line) => `neutralised ${line}`),
        ...(neutralised.length === 0 ? ['There was nothing to neutralise.'] : []),
      ];
      return ok({ lines, value: { schema: 'idunn.ladder-copy/v1', from, to, parts, neutralised, discard } });
    });
  });

const renderCopy = (from: Slot, to: Slot): string =>
  [
    `1. dump the data of ${from.name} while it runs, and go on only when every part is whole`,
    `2. compare where both stand, and ask for the name of ${to.name} when it would lose anything`,
    `3. make ${to.name} stand still`,
    `4. replace its data by the copy`,
    `5. take out of the copy what would act on the world`,
    `6. start ${to.name} again`,
  ].join('\n');

export interface SealOptions extends LadderOptions {
  readonly scratch?: string;
}

/** `idunn bundle seal SLOT FILE`. An incomplete capture is sealed as what it is, and ends with 1. */
export const sealSlot = (environment: Environment, name: string, file: string, options: SealOptions): Promise<number> =>
  withLadder(environment, options, async ({ guard, open, say }) => {
    const slot = guard.look({ slot: name });
    if (!slot.ok) return slot;
    const bundle = resolve(environment.directory, file);
    if (options.dryRun === true) {
      return printedPlan(`1. dump the data of ${name} while it runs\n2. seal it into ${bundle} and ${bundle}.json`);
    }
    const data = await open.data(slot.value);
    if (!data.ok) return data;
    return inScratch(environment, options.scratch, (scratch) =>
      sealed(environment, data.value, slot.value, bundle, scratch, say),
    );
  });

async function sealed(
  environment: Environment,
  data: AppData,
  slot: Slot,
  bundle: string,
  staging: string,
  say: LadderContext['say'],
): Promise<Outcome<Answered>> {
  const takenAtMs = environment.nowMs();
  const report = await metered(environment, 'dumped', staging, () => data.dump(slot, staging));
  if (!report.ok) return report;
  for (const line of partLines(report.value.parts)) say(`  ${line}`);
  const bytes = meter(environment, 'sealed');
  const app = data.describe();
  const request = { staging, bundle, sourceSlot: slot.name, takenAtMs, app, report: report.value };
  const made = await seal({ ...request, progress: bytes.progress });
  bytes.end();
  if (!made.ok) return made;
  const { completeness, archive } = made.value;
  const verdict = completeness.kind === 'complete' ? 'complete' : `NOT WHOLE (${completeness.kind})`;
  const lines = [`sealed: ${bundle}, ${sizeOf(archive.bytes)} of ${sizeOf(archive.contentBytes)}, ${verdict}.`];
  const exit = completeness.kind === 'complete' ? EXIT.done : EXIT.failed;
  return ok({ lines, value: made.value, exit });
}

/** `idunn bundle verify FILE`: intact, and whole? Two questions, both answered. */
export const verifyBundle = (environment: Environment, file: string, options: LadderOptions): Promise<number> =>
  answer(environment, options, async () => {
    const bytes = meter(environment, 'read');
    const report = await verify(resolve(environment.directory, file), bytes.progress);
    bytes.end();
    if (!report.ok) return report;
    const { intact, usable, problems, completeness } = report.value;
    const lines = [
      intact ? 'intact: the bytes are what was sealed.' : `NOT INTACT: ${problems.join('; ')}.`,
      completeness.kind === 'complete' ? 'whole: every part was captured.' : `NOT WHOLE: ${completeness.kind}.`,
    ];
    return ok({
      lines,
      value: { schema: 'idunn.bundle-verify/v1', ...report.value },
      exit: usable ? EXIT.done : EXIT.failed,
    });
  });

export interface UnsealOptions extends LadderOptions {
  readonly acceptIncomplete?: boolean;
  readonly acceptCorrupt?: boolean;
}

/** `idunn bundle unseal FILE DIRECTORY`. */
export const unsealBundle = (
  environment: Environment,
  file: string,
  directory: string,
  options: UnsealOptions,
): Promise<number> =>
  answer(environment, options, async () => {
    const at = (path: string): string => resolve(environment.directory, path);
    if (options.dryRun === true) return printedPlan(`1. verify ${at(file)}\n2. unseal it into ${at(directory)}`);
    const { acceptIncomplete = false, acceptCorrupt = false } = options;
    const bytes = meter(environment, 'unsealed');
    const made = await unseal(at(file), at(directory), { acceptIncomplete, acceptCorrupt }, bytes.progress);
    bytes.end();
    if (!made.ok) return made;
    const verdict = made.value.usable ? 'intact and whole' : 'NOT intact and whole: it was accepted explicitly';
    const lines = [`unsealed: ${made.value.directory}, ${verdict}.`];
    return ok({ lines, value: { schema: 'idunn.bundle-unseal/v1', ...made.value } });
  });

/** `idunn bundle show FILE`: its manifest; the archive is not read. */
export const showBundle = (environment: Environment, file: string, options: LadderOptions): Promise<number> =>
  answer(environment, options, async () => {
    const manifest = await loadManifest(resolve(environment.directory, file));
    if (!manifest.ok) return manifest;
    const { sourceSlot, takenAtMs, app, parts, completeness, archive } = manifest.value;
    const lines = [
      `${app} of ${sourceSlot}, taken ${new Date(takenAtMs).toISOString()}`,
      `${archive.entries} entries, ${sizeOf(archive.contentBytes)} in ${sizeOf(archive.bytes)}, ${archive.rootDigest}`,
      `capture: ${completeness.kind}`,
      ...partLines(parts).map((line) => `  ${line}`),
    ];
    return ok({ lines, value: manifest.value });
  });
