import { seen } from '@idunn/kernel';
import { type BindingDocument, parseBinding } from '../binding/parse.ts';
import { type Fault, faultsOf } from '../configuration/fault.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type StartKind, startKindOf } from '../model/plan.ts';
import type { SourceFacts } from '../model/source-facts.ts';
import { compilePlan } from '../plan/compile.ts';
import { hostQuestions } from '../plan/host-facts.ts';
import type { HostPort } from '../ports/host-port.ts';
import { parseRecipe, type RecipeDocument } from '../recipe/parse.ts';

/** The text of a configuration file, and the name that faults show. */
export interface Draft {
  readonly file: string;
  readonly text: string;
}

/** What a pair of files that may not be written yet would come to on this machine. */
export interface DraftAnswer {
  readonly faults: readonly Fault[];
  /** `null` while there are faults. */
  readonly start: StartKind | null;
}

/**
 * Checks a recipe and a binding against each other and this machine as planning would, before either is committed:
 * only the source itself and the signer, which the first plan enrols, are taken for granted. It only reads.
 */
export async function checkDraft(
  fleet: Fleet,
  machine: string,
  drafts: { readonly recipe: Draft; readonly binding: Draft },
  host: HostPort,
): Promise<DraftAnswer> {
  const recipe = parseRecipe(drafts.recipe.text, drafts.recipe.file);
  const binding = parseBinding(drafts.binding.text, drafts.binding.file);
  if (!recipe.ok || !binding.ok) {
    return { faults: [recipe, binding].flatMap((one) => (one.ok ? [] : faultsOf(one.refusal))), start: null };
  }
  const { target } = binding.value.binding;
  const around: Fleet = { ...fleet, bindings: new Map([...fleet.bindings, [target, binding.value]]) };
  const planned = compilePlan({
    fleet: around,
    machine,
    binding: binding.value,
    recipe: recipe.value,
    facts: grantedFacts(recipe.value, binding.value),
    hostFacts: { ...(await host.look(hostQuestions(around, binding.value))), signer: GRANTED_SIGNER },
  });
  return planned.ok
    ? { faults: [], start: startKindOf(planned.value) }
    : { faults: faultsOf(planned.refusal), start: null };
}

const GRANTED_SIGNER = seen({ keyId: 'ed25519:draft', publicKey: Buffer.alloc(32).toString('base64') });

function grantedFacts({ digest }: RecipeDocument, { binding: { source } }: BindingDocument): SourceFacts {
  const { origin, ref, minimum_revision: commit } = source;
  return {
    origin,
    ref,
    selection: 'ref-head',
    objectFormat: commit.length === 40 ? 'sha1' : 'sha256',
    commit,
    tree: commit,
    recipePath: source.recipe,
    recipeBlob: commit,
    recipeDigest: digest,
    gitlinks: [],
    lfsPointers: source.lfs_pointers,
    authorization: null,
    minimumRevision: commit,
  };
}
