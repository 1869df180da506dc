import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { OwnerClaim } from '@idunn/authority';
import {
  absent,
  digestBytes,
  type Evidence,
  type Outcome,
  ok,
  readPlainFileSync,
  refusal,
  refused,
  seen,
  unknown,
} from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import { z } from 'zod';
import { isErrno } from '../process/proc.ts';
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

/** The claim as it lies beside the state, where a program may have put anything in its place. */
export function readClaimFile(root: string): Evidence<ClaimFile> {
  let bytes: Buffer | null;
  try {
    bytes = readPlainFileSync(join(root, CLAIM_FILE), { limitBytes: LARGEST_CLAIM_BYTES });
  } catch (error) {
    return unknown((error as Error).message);
  }
  if (bytes === null) return absent;
  try {
    return seen(claimSchema.parse(JSON.parse(bytes.toString('utf8'))));
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

/**
 * Replaces the claim atomically and durably; one of another owner that came since `over` was read stays. Where none
 * lies, of several that come at once one is made: nothing but it stands between fleets whose rows lie in different
 * places (I1).
 */
export function writeOwnerClaim(state: StateContract, claim: OwnerClaim, over: OwnerClaim | null): Outcome<'written'> {
  const file = join(state.root, CLAIM_FILE);
  const there = readOwnerClaim(state.root);
  if (there.kind === 'unknown') return notWritten(file, there.because);
  if (there.kind === 'seen' && !isOwn(there.value, claim) && !isSame(there.value, over)) return foreign(there.value);
  const stores = leaseCarriers(state).map((store) => store.id);
  const draft = `${file}.${digestBytes(claim.fleet).slice(7, 23)}.draft`;
  try {
    writeDraft(draft, `${JSON.stringify({ ...claim, stores } satisfies ClaimFile)}\n`);
    if (there.kind === 'seen') {
      renameSync(draft, file);
    } else {
      linkSync(draft, file);
      unlinkSync(draft);
    }
  } catch (error) {
    const winner = isErrno(error, 'EEXIST') ? readOwnerClaim(state.root) : absent;
    return winner.kind === 'seen' ? foreign(winner.value) : notWritten(file, String(error));
  }
  try {
    syncDirectory(state.root);
  } catch (error) {
    return refused(refusal('claim-not-durable', `The directory of ${file} is not confirmed: ${String(error)}.`));
  }
  return ok('written');
}

const isOwn = (one: OwnerClaim, other: OwnerClaim): boolean => one.fleet === other.fleet && one.target === other.target;

const isSame = (one: OwnerClaim, other: OwnerClaim | null): boolean =>
  other !== null && isOwn(one, other) && one.stateId === other.stateId && one.highestEpoch === other.highestEpoch;

const foreign = ({ fleet, target }: OwnerClaim): Outcome<never> =>
  refused(refusal('foreign-claim', `The state was claimed by ${fleet}/${target} meanwhile.`));

const notWritten = (file: string, because: string): Outcome<never> =>
  refused(refusal('claim-not-written', `The owner claim ${file} cannot be written: ${because}.`));

/** Each fleet has a draft of its own. One that a crash has left may be the claim itself under a second name. */
function writeDraft(draft: string, text: string): void {
  try {
    unlinkSync(draft);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  const descriptor = openSync(draft, DRAFT_FLAGS, 0o644);
  try {
    fchmodSync(descriptor, 0o644);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
