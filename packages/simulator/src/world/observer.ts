import type { Correlation } from '@idunn/authority';
import { digestJson } from '@idunn/kernel';
import type { Disagreement, IncarnationKey } from '@idunn/readiness';
import type { Projection, World } from './world.ts';

/** What the observer would sign about an incarnation now; `null` while it knows no Expected. */
export function correlationOf(world: World, key: IncarnationKey): Correlation | null {
  const projection = world.projections.get(key);
  if (projection === undefined) return null;
  const { activation } = projection;
  const process = activation === null ? undefined : world.processes.get(activation.activation);
  const presence = process?.presence() ?? null;
  const present =
    presence === null
      ? null
      : {
          state: presence.state,
          epoch: presence.epoch,
          sequence: presence.header.sequence,
          observedAtMs: world.time.nowMs,
          fresh: process?.alive === true,
        };
  return {
    incarnation: key,
    activation: activation?.activation ?? null,
    present,
    // A receipt stays what it was: about the activation and epoch that it was signed for.
    ready: projection.ready,
    disagreements: presence === null ? [] : disagreements(world, projection),
  };
}

function disagreements(world: World, projection: Projection): readonly Disagreement[] {
  const process = world.processes.get(projection.activation?.activation ?? '');
  const presence = process?.presence();
  if (process === undefined || presence === null || presence === undefined) return [];
  const found: Disagreement[] = [];
  if (presence.incarnation !== projection.activation?.incarnation) {
    found.push({ code: 'incarnation-mismatch', detail: `It presents ${presence.incarnation}.` });
  }
  const { observed } = projection;
  const runs = observed === null || observed.gate === 'waiting' ? null : observed;
  if (runs !== null && runs.executable !== projection.expected.runtime.executable) {
    found.push({ code: 'executable-mismatch', detail: `Seen to run: ${runs.executable}.` });
  }
  return found;
}

/** Signs Ready when everything agrees: for exactly this activation, presence and epoch. */
export function noteReady(world: World, key: IncarnationKey): void {
  const projection = world.projections.get(key);
  const process = world.processes.get(projection?.activation?.activation ?? '');
  const presence = process?.presence();
  if (projection === undefined || process === undefined || presence === null || presence === undefined) return;
  if (!world.observerUp || !process.alive || presence.state !== 'active') return;
  if (process.stateful && presence.epoch === null) return;
  if (disagreements(world, projection).length > 0 || projection.observed?.gate === 'waiting') return;
  const { activation, epoch, header } = presence;
  if (projection.ready?.activation === activation && projection.ready.epoch === epoch) return;
  projection.ready = {
    receipt: digestJson({ key, activation, epoch, sequence: header.sequence }),
    activation,
    epoch,
    sequence: header.sequence,
    observedAtMs: world.time.nowMs,
  };
  world.ledger.note({ kind: 'ready', incarnation: key, activation, epoch });
}
