import type { Machine } from './edge/machine.ts';

export type Handler<A> = (argument: A) => void | Promise<void>;

/** `done` when no handler was asynchronous: what follows may happen in the same tick. */
export type Running = { readonly kind: 'done' } | { readonly kind: 'running'; readonly promise: Promise<unknown> };

/** Calls handlers side by side; one that throws counts as a rejection. */
export function runHandlers<A>(handlers: readonly Handler<A>[], argument: A): Running {
  try {
    const pending = handlers.map((handler) => handler(argument)).filter((result) => result instanceof Promise);
    return pending.length === 0 ? { kind: 'done' } : { kind: 'running', promise: Promise.all(pending) };
  } catch (error) {
    return { kind: 'running', promise: Promise.reject(error) };
  }
}

/** Resolves `true` when `promise` has ended, `false` when the limit came first; rejects as `promise` does. */
export async function within(promise: Promise<unknown>, limitMs: number, machine: Machine): Promise<boolean> {
  const limit = Promise.withResolvers<false>();
  const withdraw = machine.after(limitMs, () => {
    limit.resolve(false);
  });
  try {
    return await Promise.race([promise.then(() => true as const), limit.promise]);
  } finally {
    withdraw();
  }
}
