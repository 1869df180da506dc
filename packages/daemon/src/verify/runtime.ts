import type { Evidence } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { AuditCheck } from '@idunn/release';
import type { Dossier } from './dossier.ts';

/** The place of an installed file, as the disk has it now; `null` when it cannot be told. */
export type FilePlace = { readonly device: string; readonly inode: string } | null;

/**
 * What runs, as the driver observes it now, held against the seal (I2): exactly this process, the bytes that execute,
 * the words, and the packaged entry in its place.
 */
export function runtimeChecks(
  { record: { release }, body }: Dossier,
  observed: Evidence<ObservedRuntime>,
  entryPlace: FilePlace,
): AuditCheck[] {
  if (body === null) return [];
  const check = 'process';
  if (observed.kind === 'unknown') return [{ check, verdict: 'unknown', detail: observed.because }];
  const { pid } = body.handle.identity;
  if (observed.kind === 'absent') {
    return [{ check, verdict: 'differs', detail: `exactly this process, pid ${pid}, is gone` }];
  }
  const { identity, executable, argv, entry, gate } = observed.value;
  if (gate !== undefined) {
    return [{ check, verdict: 'differs', detail: `pid ${pid} is a launcher that waits; the program does not run` }];
  }
  return [
    { check, verdict: 'ok', detail: `pid ${identity.pid}, the one that was admitted, start ${identity.startTime}` },
    same('executable', executable, release.executableDigest, 'was sealed'),
    body.handle.argv === undefined
      ? { check: 'argv', verdict: 'unknown', detail: 'how it was launched is not on record' }
      : same('argv', argv, body.handle.argv, 'is how it was launched'),
    ...entryChecks(release.entry, entry, entryPlace),
  ];
}

function entryChecks(
  sealed: Dossier['record']['release']['entry'],
  entry: ObservedRuntime['entry'],
  place: FilePlace,
): AuditCheck[] {
  if (sealed === null) return [];
  const check = 'entry';
  const name = sealed.path === '' ? sealed.artifact : `${sealed.artifact}/${sealed.path}`;
  if (entry === null) return [{ check, verdict: 'differs', detail: `it was started without ${name}` }];
  if (entry.digest !== sealed.digest) return [same(check, entry.digest, sealed.digest, `was sealed as ${name}`)];
  if (place === null)
    return [{ check, verdict: 'unknown', detail: `${name} cannot be looked at where it is installed` }];
  return place.device === entry.device && place.inode === entry.inode
    ? [{ check, verdict: 'ok', detail: `${name}, the installed file itself: ${entry.digest}` }]
    : [{ check, verdict: 'differs', detail: `what it runs is another file than the installed ${name}` }];
}

const same = (check: string, found: string, wanted: string, how: string): AuditCheck =>
  found === wanted
    ? { check, verdict: 'ok', detail: found }
    : { check, verdict: 'differs', detail: `it is ${found}, and ${wanted} ${how}` };
