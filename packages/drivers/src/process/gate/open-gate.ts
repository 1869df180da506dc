import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { WorkloadHandle } from '@idunn/authority';
import { type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import { reach } from '../../channel/reach.ts';
import type { ActivationFiles } from '../activation-directory.ts';
import { type Standpoint, vital } from '../identity.ts';
import { messageOf } from '../proc.ts';
import { readTicket } from '../ticket.ts';
import { GATE_LINE_LIMIT_BYTES, type GateGrant, type GateRefusal } from './orders.ts';
import { openedFor, type Standing, standingOf } from './standing.ts';

/** How long a launcher may take to listen, and to become the program once it has its grant, in milliseconds. */
const GATE_MS = 10_000;
/** Between two looks at a process that is just becoming the program, in milliseconds. */
const LOOK_MS = 1;

export interface GateSite {
  readonly files: ActivationFiles;
  readonly from: Standpoint;
  readonly timers: Timers;
}

/**
 * Lets exactly this process become its program under the epoch, and answers once it has. A repeat finds it open; a
 * launcher that was told of a grant which its lease row does not name goes on waiting.
 */
export async function openGate(handle: WorkloadHandle, epoch: number, site: GateSite): Promise<Outcome<'open'>> {
  const before = await whenStanding(handle, site);
  if (!before.ok) return before;
  if (before.value === 'waiting') {
    const told = await tell(handle, epoch, site);
    // Somebody else's grant may have opened it meanwhile.
    if (!told.ok && !existsSync(site.files.opened)) return told;
  }
  const after = await whenStanding(handle, site);
  if (!after.ok) return after;
  if (after.value === 'waiting') return closed(handle, 'its launcher goes on waiting');
  const opened = await openedFor(site.files);
  return opened === epoch
    ? ok('open')
    : refused(refusal('gate-opened-otherwise', `The gate of ${handle.activation} was opened for epoch ${opened}.`));
}

/** Who stands in the process of a gated start, as soon as that can be told. */
export async function whenStanding(handle: WorkloadHandle, site: GateSite): Promise<Outcome<Standing>> {
  const { activation, identity } = handle;
  const ticket = readTicket(site.files);
  if (ticket === null || ticket === 'damaged') return closed(handle, 'its ticket cannot be read');
  if (ticket.gate === undefined) return closed(handle, 'it was started without a gate');
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const alive = vital(identity, site.from);
    if (alive.kind === 'absent') {
      return refused(refusal('gate-process-gone', `Process ${identity.pid} of ${activation} is gone.`));
    }
    const stands = await standingOf(identity.pid, ticket, site.files).catch(() => null);
    if (alive.kind === 'seen' && stands?.kind === 'seen') return ok(stands.value.standing);
    if (waitedMs >= GATE_MS) return closed(handle, 'it cannot be told what runs there');
    await new Promise<void>((resolve) => void site.timers.after(LOOK_MS, resolve));
  }
}

async function tell(handle: WorkloadHandle, epoch: number, site: GateSite): Promise<Outcome<'told'>> {
  const { identity, activation } = handle;
  const { files, from, timers } = site;
  const reached = await reach(
    { identity, path: files.gate, from, timers, abandoned: () => existsSync(files.opened) },
    GATE_MS,
  );
  if (!reached.ok) return reached;
  const line = await exchange(reached.value, { activation, epoch }, timers);
  if (line === '') return ok('told');
  return closed(handle, becauseIn(line));
}

/** Sends the grant; resolves with what the launcher says, and with nothing when it became the program. */
function exchange(socket: Socket, grant: GateGrant, timers: Timers): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const finish = (): void => {
      withdraw();
      socket.destroy();
      resolve(text);
    };
    const withdraw = timers.after(GATE_MS, finish);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > GATE_LINE_LIMIT_BYTES) finish();
    });
    socket.on('close', finish).on('error', finish);
    socket.write(`${JSON.stringify(grant)}\n`);
  });
}

function becauseIn(line: string): string {
  try {
    return (JSON.parse(line) as GateRefusal).because;
  } catch (error) {
    return messageOf(error);
  }
}

const closed = (handle: WorkloadHandle, because: string): Outcome<never> =>
  refused(refusal('gate-stays-closed', `The gate of ${handle.activation} stays closed: ${because}.`));
