import { connect, type Socket } from 'node:net';
import type { Timers } from '@idunn/kernel';
import { DIAL_FROM_MS, DIAL_TO_MS } from '../limits.ts';

/** A standby speaks to the incumbent observer as any workload does, so that the incumbent can correlate it. */
export function incumbentDial(ports: {
  readonly socket: string;
  readonly timers: Timers;
  readonly presence: () => unknown;
  /** The incumbent was there and is gone. */
  readonly gone: () => void;
}): { send(): void; stop(): void } {
  let open: Socket | null = null;
  let cancelRetry: (() => void) | null = null;
  let stopped = false;
  let waitMs = DIAL_FROM_MS;

  function dial(): void {
    const socket = connect(ports.socket);
    socket.on('connect', () => {
      open = socket;
      waitMs = DIAL_FROM_MS;
      send();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const wasOpen = open === socket;
      open = null;
      if (stopped) return;
      if (wasOpen) ports.gone();
      cancelRetry = ports.timers.after(waitMs, dial);
      waitMs = Math.min(waitMs * 2, DIAL_TO_MS);
    });
    socket.resume();
  }

  function send(): void {
    open?.write(`${JSON.stringify({ type: 'presence', envelope: ports.presence() })}\n`);
  }

  dial();
  return {
    send,
    stop() {
      stopped = true;
      cancelRetry?.();
      open?.destroy();
    },
  };
}
