import { connect } from 'node:net';
import type { Machine } from '@idunn/workload/attending';
import { bad, type Finding, good } from '../model/reading.ts';

/** A connection is accepted, and closed again in order. */
export function probeTcp(
  { host, port }: { readonly host: string; readonly port: number },
  timeoutMs: number,
  machine: Machine,
): Promise<Finding> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (finding: Finding): void => {
      withdraw();
      resolve(finding);
    };
    const withdraw = machine.after(timeoutMs, () => {
      finish(bad(`port ${port} accepted no connection within ${timeoutMs} ms`));
      socket.destroy();
    });
    socket.on('error', (error) => finish(bad(`port ${port}: ${error.message}`)));
    socket.on('connect', () => {
      finish(good(`port ${port} accepted a connection`));
      socket.end(() => socket.destroy());
    });
  });
}
