// Checks a recipe and a binding as a daemon would, for a fleet that may have no daemon yet. Reads one JSON document on
// standard input, prints one on standard output, and changes nothing.
import { homedir } from 'node:os';
import { text } from 'node:stream/consumers';
import { systemClock, unknown } from '@idunn/kernel';
import {
  type Account,
  checkDraft,
  createDigestMemo,
  createHost,
  type DraftAnswer,
  type Fleet,
  faultsOf,
  parseFleet,
  readFleet,
  resolveDirectories,
} from '@idunn/release';
import { z } from 'zod';
import { MACHINE } from './machine.ts';

const draft = z.strictObject({ file: z.string(), text: z.string() });
const request = z.strictObject({
  /** The fleet's directory, and its fleet.toml where it is not written yet. */
  fleet: z.strictObject({ directory: z.string(), text: z.string().nullable() }),
  recipe: draft,
  binding: draft,
});

const account: Account = { root: process.geteuid?.() === 0, home: homedir(), environment: process.env };

async function check(): Promise<DraftAnswer> {
  const { fleet, ...drafts } = request.parse(JSON.parse(await text(process.stdin)));
  const around = fleet.text === null ? await written(fleet.directory) : drafted(fleet.directory, fleet.text);
  if (!('id' in around)) return around;
  const host = createHost({
    digests: createDigestMemo(systemClock()),
    uid: process.getuid?.() ?? 0,
    signer: () => Promise.resolve(unknown('a draft has no signer yet')),
  });
  return checkDraft(around, MACHINE, drafts, host);
}

async function written(directory: string): Promise<Fleet | DraftAnswer> {
  const { fleet, faults } = await readFleet(directory, account);
  return fleet ?? { faults, start: null };
}

function drafted(root: string, toml: string): Fleet | DraftAnswer {
  const parsed = parseFleet(toml, 'fleet.toml');
  if (!parsed.ok) return { faults: faultsOf(parsed.refusal), start: null };
  const { fleet } = parsed.value;
  const directories = resolveDirectories(root, fleet, account);
  const { id, ports, daemon, source } = fleet;
  return {
    id,
    root,
    directories,
    ports,
    daemon: { queueDepth: daemon.queue_depth },
    notify: [],
    source: { reader: source.reader ?? null, originOwners: source.origin_owners },
    profiles: {},
    bindings: new Map(),
  };
}

process.stdout.write(`${JSON.stringify(await check())}\n`);
