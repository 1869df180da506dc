export type * from './engine/api.ts';
export * from './model/phase.ts';
export type * from './ports/channel-port.ts';
export type * from './ports/engine-ports.ts';
export type * from './ports/freeze-port.ts';
export type * from './ports/lease-port.ts';
export type * from './ports/observer-port.ts';
export type * from './ports/route-port.ts';
export type * from './ports/workload-port.ts';
