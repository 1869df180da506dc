import { type Document, faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import type { Sections } from '../configuration/sections.ts';
import type { Binding, BindingShape } from './schema.ts';

/** Only a runner that confines can hold these. */
const CONFINED = ['network', 'mount', 'memory_bytes', 'processes', 'cpu_millis'] as const;

export function checkRunners(document: Document, { runner = {}, network }: Sections<BindingShape>): Fault[] {
  return Object.entries(runner).flatMap(([name, grant]) => {
    const held = CONFINED.flatMap((field): Fault[] => {
      const value = grant[field];
      const asked = Array.isArray(value) ? value.length > 0 : value !== undefined;
      if (!asked || grant.kind !== 'host-native') return [];
      const message = `runner.${name}.${field}: kind "host-native" cannot hold it, kind "bubblewrap" can`;
      const related = document.place(['runner', name, 'kind']);
      return [faultAt(document, ['runner', name, field], 'invalid-value', message, related)];
    });
    held.push(...reservedPlaces(document, name, grant.mount));
    if (grant.network === undefined || network === undefined || Object.hasOwn(network, grant.network)) return held;
    const message = `runner.${name}.network: there is no [network.${grant.network}]`;
    return [...held, faultAt(document, ['runner', name, 'network'], 'undefined-reference', message)];
  });
}

export function checkInterpreters(document: Document, { interpreter = {} }: Sections<BindingShape>): Fault[] {
  return Object.entries(interpreter).flatMap(([name, { origin, path, input }]) => {
    const [needed, idle, value, other] =
      origin === 'host' ? (['path', 'input', path, input] as const) : (['input', 'path', input, path] as const);
    const at = (field: string): readonly string[] => ['interpreter', name, field];
    const faults: Fault[] = [];
    if (value === undefined) {
      const message = `interpreter.${name}.${needed} is missing: its origin is "${origin}"`;
      faults.push(faultAt(document, at(needed), 'missing-field', message));
    }
    if (other !== undefined) {
      const message = `interpreter.${name}.${idle}: an interpreter of origin "${origin}" has none`;
      faults.push(faultAt(document, at(idle), 'invalid-value', message));
    }
    return faults;
  });
}

/** What a sandbox has of its own; nothing of the host can be shown in its place. */
const RESERVED = ['/dev', '/idunn', '/proc', '/tmp'];

function reservedPlaces(document: Document, name: string, mounts: Binding['runner'][string]['mount']): Fault[] {
  return mounts.flatMap(({ source, destination = source }, index): Fault[] => {
    const taken = destination === '/' ? '/' : RESERVED.find((place) => `${destination}/`.startsWith(`${place}/`));
    if (taken === undefined) return [];
    const message = `runner.${name}.mount: ${taken} is the sandbox's own; give another destination`;
    return [faultAt(document, ['runner', name, 'mount', index], 'invalid-value', message)];
  });
}
