import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { OwnerClaim } from '@idunn/authority';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import { z } from 'zod';
import { leaseCarriers, OWN_FILES } from './lease-carriers.ts';

const CLAIM_FILE = `${OWN_FILES}claim.json`;
const LARGEST_CLAIM_BYTES = 65_536;

const claimSchema = z.strictObject({
  schema: z.literal('idunn.owner-claim/v1'),
  fleet: z.string().min(1),
  target: z.string().min(1),
  stateId: z.string().min(1),
  highestEpoch: z.int().nonnegative(),
  /** The databases with a lease row when the claim was written: none of them may silently begin anew (F20). */
  stores: z.array(z.string()),
});
type ClaimFile = Readonly<z.infer<typeof claimSchema>>;

/** The claim as it lies beside the state. */
export function readClaimFile(root: string): Evidence<ClaimFile> {
  let text: string;
  try {
    text = readFileSync(join(root, CLAIM_FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return absent;
    return unknown(String(error));
  }
  try {
    if (text.length > LARGEST_CLAIM_BYTES) return unknown('the owner claim is too long');
    return seen(claimSchema.parse(JSON.parse(text)));
  } catch {
    return unknown('the owner claim has another form');
  }
}

export function readOwnerClaim(root: string): Evidence<OwnerClaim> {
  const claim = readClaimFile(root);
  if (claim.kind !== 'seen') return claim;
  const { stores: _, ...owner } = claim.value;
  return seen(owner);
}

/**
 * The nearest directory above a state root that a claim makes a state of its own, whichever fleet wrote it; `null` when
 * there is none. A claim that cannot be looked for counts as there (I10).
 */
export function claimedAbove(root: string): string | null {
  for (let at = realpathSync(root); at !== dirname(at); ) {
    at = dirname(at);
    const claim = readClaimFile(at);
    if (claim.kind !== 'absent') return at;
  }
  return null;
}

/** Replaces the claim atomically and durably. */
export function writeOwnerClaim(state: StateContract, claim: OwnerClaim): Outcome<'written'> {
  const file = join(state.root, CLAIM_FILE);
  const stores = leaseCarriers(state).map((store) => store.id);
  try {
    const draft = openSync(`${file}.draft`, DRAFT_FLAGS, 0o644);
    try {
      fchmodSync(draft, 0o644);
      writeFileSync(draft, `${JSON.stringify({ ...claim, stores } satisfies ClaimFile)}\n`);
      fsyncSync(draft);
    } finally {
      closeSync(draft);
    }
    renameSync(`${file}.draft`, file);
  } catch (error) {
    return refused(refusal('claim-not-written', `The owner claim ${file} cannot be written: ${String(error)}.`));
  }
  try {
    syncDirectory(state.root);
  } catch (error) {
    return refused(refusal('claim-not-durable', `The directory of ${file} is not confirmed: ${String(error)}.`));
  }
  return ok('written');
}

const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
