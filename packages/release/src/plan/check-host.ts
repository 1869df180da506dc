import type { Evidence } from '@idunn/kernel';
import type { BindingDocument } from '../binding/parse.ts';
import { faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import type { Path } from '../configuration/path.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { checkSteward } from './check-steward.ts';
import type { HostFacts } from './host-facts.ts';
import { checkIdentity } from './identity.ts';
import { overlap, problem } from './lineages.ts';

/** Everything about a binding that the machine itself can contradict; none of it needs the source (F1). */
export function checkHost(fleet: Fleet, bound: BindingDocument, machine: string, host: HostFacts): readonly Fault[] {
  return [
    ...checkNode(bound, machine),
    ...checkPrograms(bound, host),
    ...checkSecrets(bound, host),
    ...checkSigner(bound, host),
    ...checkStateRoot(fleet, bound, host),
    ...checkMounts(fleet, bound, host),
    ...checkSteward(fleet, bound, host),
    ...checkIdentity(fleet, bound, host),
  ];
}

function checkNode({ binding, document }: BindingDocument, machine: string): Fault[] {
  if (binding.node === machine) return [];
  const message = `node: the target belongs on "${binding.node}", this machine is "${machine}"`;
  return [faultAt(document, ['node'], 'node-mismatch', message)];
}

function checkPrograms({ binding, document }: BindingDocument, host: HostFacts): Fault[] {
  const missing = (path: Path, file: string, evidence: Evidence<unknown> | undefined): Fault[] => {
    if (evidence?.kind === 'seen' && evidence.value !== 'not-executable') return [];
    return [
      faultAt(document, path, 'host-program-missing', `${file} ${problem(evidence, 'is not an executable file')}`),
    ];
  };
  return [
    ...Object.entries(binding.interpreter).flatMap(([name, { path }]) =>
      path === undefined ? [] : missing(['interpreter', name, 'path'], path, host.interpreters[path]),
    ),
    ...Object.entries(binding.runner).flatMap(([profile, { allowed_programs }]) =>
      Object.entries(allowed_programs).flatMap(([name, path]) =>
        missing(['runner', profile, 'allowed_programs', name], path, host.programs[path]),
      ),
    ),
  ];
}

function checkSecrets({ binding, document }: BindingDocument, host: HostFacts): Fault[] {
  return Object.entries(binding.secret).flatMap(([name, { file }]) => {
    const evidence = host.secrets[file];
    if (evidence?.kind === 'seen' && evidence.value === 'private') return [];
    const why =
      evidence?.kind === 'seen' && evidence.value === 'readable-by-others'
        ? 'can be read by others'
        : 'is not a regular file';
    return [faultAt(document, ['secret', name, 'file'], 'secret-unusable', `${file} ${problem(evidence, why)}`)];
  });
}

function checkSigner({ binding, document }: BindingDocument, { signer }: HostFacts): Fault[] {
  if (signer.kind !== 'seen') {
    const why = signer.kind === 'unknown' ? `: ${signer.because}` : '';
    return [faultAt(document, ['target'], 'signer-missing', `target "${binding.target}" has no enrolled signer${why}`)];
  }
  if (binding.signer === undefined || binding.signer.public_key === signer.value.publicKey) return [];
  const message = 'signer.public_key: it is not the public half of the key pair that this machine holds';
  return [faultAt(document, ['signer', 'public_key'], 'invalid-value', message)];
}

/** F20, I1: two targets never share state, whatever names their roots are reached by. */
function checkStateRoot(fleet: Fleet, { binding, document }: BindingDocument, host: HostFacts): Fault[] {
  if (binding.state === undefined) return [];
  const { root } = binding.state;
  const own = host.directories[root];
  if (own?.kind !== 'seen') {
    return [
      faultAt(
        document,
        ['state', 'root'],
        'host-directory-unreadable',
        `${root} ${problem(own, 'cannot be looked at')}`,
      ),
    ];
  }
  const faults: Fault[] = [];
  for (const other of fleet.bindings.values()) {
    if (other.binding.target === binding.target || other.binding.state === undefined) continue;
    const theirs = other.binding.state.root;
    const found = overlap(own.value, host.directories[theirs]);
    if (found === null) continue;
    const message = `state.root ${root} ${found} the state root ${theirs} of target "${other.binding.target}"`;
    faults.push(
      faultAt(document, ['state', 'root'], 'state-roots-overlap', message, other.document.place(['state', 'root'])),
    );
  }
  for (const [name, path] of [...Object.entries(fleet.directories), ['fleet', fleet.root] as const]) {
    // A state root may lie in the fleet directory, beside the files of it, but never in what the authority keeps there.
    const found = overlap(own.value, host.directories[path]);
    if (found === null || (name === 'fleet' && found === 'is inside')) continue;
    const message = `state.root ${root} ${found} Idunn's own ${name} directory ${path}`;
    faults.push(faultAt(document, ['state', 'root'], 'state-roots-overlap', message));
  }
  return faults;
}

/** I11: what a step is shown never lies in what the authority keeps, nor in any target's state. */
function checkMounts(fleet: Fleet, { binding, document }: BindingDocument, host: HostFacts): Fault[] {
  const kept = [
    ...Object.entries(fleet.directories).map(([name, path]) => [`Idunn's own ${name} directory`, path] as const),
    ["Idunn's fleet directory", fleet.root] as const,
    ...[...fleet.bindings.values()].flatMap(({ binding: { target, state } }) =>
      state === undefined ? [] : [[`the state root of target "${target}"`, state.root] as const],
    ),
  ];
  return Object.entries(binding.runner).flatMap(([name, { mount }]) =>
    mount.flatMap(({ source }, index): Fault[] => {
      const at: Path = ['runner', name, 'mount', index, 'source'];
      const own = host.mounts[source];
      if (own?.kind !== 'seen') {
        const message = `${source} ${problem(own, 'cannot be looked at')}`;
        return [faultAt(document, at, 'host-directory-unreadable', message)];
      }
      return kept.flatMap(([what, path]) => {
        const found = overlap(own.value, host.directories[path]);
        // A mount may hold one of them: the runner covers it there.
        if (found === null || found === 'holds') return [];
        return [faultAt(document, at, 'mount-refused', `${source} ${found} ${what} ${path}`)];
      });
    }),
  );
}
