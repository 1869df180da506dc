import type { BindingDocument } from '../binding/parse.ts';
import type { Binding } from '../binding/schema.ts';
import { faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import { type Path } from '../configuration/path.ts';
import { slotNeeds } from '../recipe/checks.ts';
import type { RecipeDocument } from '../recipe/parse.ts';
import type { Recipe } from '../recipe/schema.ts';
import { INTERPRETER_ARTIFACT } from './launch.ts';

/**
 * Everything that the recipe asks for, held against what the binding grants (I11). Each fault shows the recipe's line
 * and the nearest line of the binding.
 */
export function checkAdmission(asked: RecipeDocument, bound: BindingDocument): readonly Fault[] {
  const { recipe } = asked;
  const { binding } = bound;
  const faults: Fault[] = [];
  const not = (path: Path, grant: Path, message: string, code: Fault['code'] = 'not-admitted'): void => {
    faults.push(faultAt(asked.document, path, code, message, bound.document.place(grant)));
  };

  if (recipe.target !== binding.target) {
    not(
      ['target'],
      ['target'],
      `the recipe is for "${recipe.target}", the binding for "${binding.target}"`,
      'target-mismatch',
    );
  }
  for (const [name, profile] of Object.entries(recipe.runner)) {
    const grant = own(binding.runner, name);
    if (grant === undefined) {
      not(['runner', name], ['runner'], `the binding admits no runner profile "${name}"`);
      continue;
    }
    profile.programs.forEach((program, index) => {
      if (own(grant.allowed_programs, program) !== undefined) return;
      const where = ['runner', name, 'allowed_programs'];
      not(['runner', name, 'programs', index], where, `runner.${name}.allowed_programs does not admit "${program}"`);
    });
    if (profile.network !== undefined && grant.network !== profile.network) {
      const where = ['runner', name, 'network'];
      const granted = grant.network === undefined ? 'no network' : `the network "${grant.network}"`;
      not(where, where, `the recipe asks for the network "${profile.network}", runner.${name} grants ${granted}`);
    }
    profile.environment.forEach((variable, index) => {
      if (own(grant.environment, variable) !== undefined) return;
      const where = ['runner', name, 'environment'];
      not(['runner', name, 'environment', index], where, `runner.${name}.environment gives no value to ${variable}`);
    });
  }
  recipe.capability.forEach(({ name }, index) => {
    if (binding.capabilities.includes(name)) return;
    not(['capability', index, 'name'], ['capabilities'], `the binding does not admit the capability "${name}"`);
  });
  checkService(asked, bound, not);
  checkPlaces(asked, bound, not, faults);
  checkProtocol(asked, bound, not);
  for (const measure of ['memory_bytes', 'processes', 'open_files'] as const) {
    const least = recipe.capacity[measure];
    const limit = binding.limits[measure];
    if (least === undefined || limit === undefined || least <= limit) continue;
    not(['capacity', measure], ['limits', measure], `the recipe needs ${least}, limits.${measure} grants ${limit}`);
  }
  return faults;
}

type Not = (path: Path, grant: Path, message: string, code?: Fault['code']) => void;

function checkService({ recipe }: RecipeDocument, { binding }: BindingDocument, not: Not): void {
  const { service } = recipe;
  if (service === undefined) return;
  if (service.interpreter !== undefined && own(binding.interpreter, service.interpreter) === undefined) {
    not(['service', 'interpreter'], ['interpreter'], `the binding admits no interpreter "${service.interpreter}"`);
  }
  checkSealedInterpreter(recipe, binding, not);
  const declared = {
    state: recipe.state?.store.map((store) => store.id) ?? [],
    artifacts: recipe.artifact.map((artifact) => artifact.id),
    endpoint: service.protocol !== undefined,
  };
  service.required_environment.forEach((name, index) => {
    const value = own(binding.environment, name);
    const path = ['service', 'required_environment', index];
    if (value === undefined) {
      not(path, ['environment'], `[environment] of the binding gives no value to ${name}`);
      return;
    }
    if (typeof value === 'string') return;
    const needs = slotNeeds(value.slot, declared) ?? operatorNeeds(value.slot, binding.operator_slot);
    if (needs !== null)
      not(path, ['environment', name], `${name} is bound to slot "${value.slot}", which needs ${needs}`);
  });
  const operated = (words: typeof service.args, at: Path): void => {
    words.forEach((word, index) => {
      if (typeof word === 'string') return;
      const needs = operatorNeeds(word.slot, binding.operator_slot);
      if (needs !== null) not([...at, index, 'slot'], ['operator_slot'], `slot "${word.slot}" needs ${needs}`);
    });
  };
  operated(service.args, ['service', 'args']);
  if (recipe.health?.kind === 'command') operated(recipe.health.argv, ['health', 'argv']);
  service.secrets.forEach((name, index) => {
    if (own(binding.secret, name) !== undefined) return;
    not(['service', 'secrets', index], ['secret'], `the binding has no secret "${name}"`);
  });
}

/** An interpreter that is a pinned input is the recipe's to pin, under the name that the binding admits. */
function checkSealedInterpreter(recipe: Recipe, binding: Binding, not: Not): void {
  const name = recipe.service?.interpreter;
  const admitted = name === undefined ? undefined : own(binding.interpreter, name);
  if (name === undefined || admitted?.input === undefined) return;
  const grant = ['interpreter', name, 'input'];
  if (!recipe.external_input.some(({ id }) => id === admitted.input)) {
    not(['service', 'interpreter'], grant, `the recipe has no [[external_input]] with the id "${admitted.input}"`);
  }
  const clash = recipe.artifact.findIndex(({ id }) => id === INTERPRETER_ARTIFACT);
  if (clash === -1) return;
  const message = `the id "${INTERPRETER_ARTIFACT}" is taken by the sealed interpreter`;
  not(['artifact', clash, 'id'], grant, message, 'duplicate-name');
}

/** State, endpoint and route are asked for and granted together: to drop one silently would lose writes or traffic. */
function checkPlaces(asked: RecipeDocument, bound: BindingDocument, not: Not, faults: Fault[]): void {
  const { recipe } = asked;
  const { binding } = bound;
  const places = [
    { name: 'state', path: ['state'], asks: recipe.state !== undefined, grants: binding.state !== undefined },
    {
      name: 'endpoint',
      path: ['service', 'protocol'],
      asks: recipe.service?.protocol !== undefined,
      grants: binding.endpoint !== undefined,
    },
    {
      name: 'route',
      path: ['service', 'routed'],
      asks: recipe.service?.routed === true,
      grants: binding.route !== undefined,
    },
  ];
  for (const { name, path, asks, grants } of places) {
    if (asks && !grants) not(path, [name], `the recipe asks for ${name}, the binding has no [${name}]`);
    if (grants && !asks) {
      const message = `the binding has [${name}], the recipe asks for none (${path.join('.')})`;
      faults.push(faultAt(bound.document, [name], 'not-requested', message, asked.document.place(path)));
    }
  }
}

/** The route carries what the service speaks: a stream has no requests that could be held or observed as such. */
function checkProtocol({ recipe }: RecipeDocument, { binding }: BindingDocument, not: Not): void {
  const asked = recipe.service?.protocol;
  if (recipe.service?.routed !== true || asked === undefined || binding.route === undefined) return;
  const { protocol } = binding.route;
  if (asked === protocol) return;
  not(
    ['service', 'protocol'],
    ['route', 'protocol'],
    `the service speaks ${asked}, the binding's route is for ${protocol}`,
  );
}

function operatorNeeds(slot: string, slots: Readonly<Record<string, string>>): string | null {
  const [kind, name = ''] = slot.split(':');
  return kind === 'operator' && own(slots, name) === undefined ? `operator_slot.${name} in the binding` : null;
}

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
