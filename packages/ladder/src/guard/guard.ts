import { type JsonObject, type Outcome, ok, refused } from '@idunn/kernel';
import { type Auditing, record } from '../audit/record.ts';
import { checkDataFlow, checkPromotion, requireHop } from '../ladder/hop.ts';
import type { Slot } from '../ladder/model.ts';
import { shown, type TargetRef } from '../registry/reference.ts';
import type { SlotRegistry } from '../registry/registry.ts';
import { type Clearance, clear, judge, unknownTarget } from './clearance.ts';
import type { Keys } from './keys.ts';

export interface GuardOptions {
  readonly registry: SlotRegistry;
  readonly keys: Keys;
  /** Where every clearance, granted or refused, is written down. */
  readonly auditing: Auditing;
}

/** A move that the ladder allows, and the rungs that it leaves out. */
export interface Move {
  readonly from: Slot;
  readonly to: Slot;
  readonly skipped: readonly string[];
}

/** A move that was cleared. */
export interface ClearedMove extends Move {
  /** For the slot that the move changes: the one that it leads to. */
  readonly clearance: Clearance;
}

export interface MoveOptions {
  readonly allowSkip?: boolean;
}

/**
 * The guard. Each answer is written to the audit trail before it is given; a clearance that cannot be written down is
 * refused.
 */
export interface Guard {
  /** Leave to change one slot and its generations. */
  clear(ref: TargetRef): Promise<Outcome<Clearance>>;
  /** Leave to change each of several, or none. */
  clearAll(refs: readonly TargetRef[]): Promise<Outcome<readonly Clearance[]>>;
  /** Leave to move code up into `to`. */
  clearPromotion(from: TargetRef, to: TargetRef, options?: MoveOptions): Promise<Outcome<ClearedMove>>;
  /** Leave to copy data down into `to`. */
  clearDataFlow(from: TargetRef, to: TargetRef, options?: MoveOptions): Promise<Outcome<ClearedMove>>;
  /** What `clear` would answer. Writes nothing and gives no clearance: for a dry run. */
  preview(ref: TargetRef): Outcome<Slot>;
  /** Whether the ladder allows the move, whatever keys there are. Writes nothing and gives no clearance. */
  previewMove(what: 'code' | 'data', from: TargetRef, to: TargetRef, options?: MoveOptions): Outcome<Move>;
  /** Leave to look at a slot, guarded ones included. What is unknown is refused. */
  look(ref: TargetRef): Outcome<Slot>;
  /** For commands that only read: what is unknown is let through, as `null`. It can give no clearance. */
  allowUnknown(): { look(ref: TargetRef): Slot | null };
}

export function createGuard({ registry, keys, auditing }: GuardOptions): Guard {
  /** The answer, once it is written down. */
  const told = async <T>(what: string, answer: Outcome<T>, target: string, detail: JsonObject): Promise<Outcome<T>> => {
    const more: JsonObject = answer.ok
      ? detail
      : { ...detail, code: answer.refusal.code, reason: answer.refusal.reason, about: answer.refusal.detail ?? null };
    const written = await record(auditing, {
      kind: 'clearance',
      what,
      target,
      outcome: answer.ok ? 'granted' : 'refused',
      detail: more,
    });
    return answer.ok && !written.ok ? written : answer;
  };

  const clearOne = (ref: TargetRef): Promise<Outcome<Clearance>> => {
    const answer = clear(registry, keys, ref);
    return told('change', answer, answer.ok ? answer.value.slot.name : shown(ref).text, notesOf(answer));
  };

  const notesOf = (answer: Outcome<Clearance>): JsonObject =>
    answer.ok ? { guarded: answer.value.slot.guarded, notes: registry.notesOn(answer.value.slot) } : {};

  const look = (ref: TargetRef): Outcome<Slot> => {
    const resolution = registry.resolve(ref);
    return resolution.kind === 'slot' ? ok(resolution.slot) : refused(unknownTarget(registry, ref));
  };

  const previewMove: Guard['previewMove'] = (what, from, to, { allowSkip = false } = {}) => {
    const source = look(from);
    if (!source.ok) return source;
    const target = look(to);
    if (!target.ok) return target;
    const [lower, upper] = [source.value.name, target.value.name];
    const check = what === 'code' ? checkPromotion : checkDataFlow;
    const hop = requireHop(check(registry.ladder, lower, upper), { what, from: lower, to: upper, allowSkip });
    return hop.ok ? ok({ from: source.value, to: target.value, skipped: hop.value.skipped }) : hop;
  };

  const move = async (
    what: 'code' | 'data',
    from: TargetRef,
    to: TargetRef,
    options: MoveOptions,
  ): Promise<Outcome<ClearedMove>> => {
    const answer = ((): Outcome<ClearedMove> => {
      const allowed = previewMove(what, from, to, options);
      if (!allowed.ok) return allowed;
      const cleared = clear(registry, keys, to);
      return cleared.ok ? ok({ ...allowed.value, clearance: cleared.value }) : cleared;
    })();
    const target = answer.ok ? answer.value.to.name : shown(to).text;
    const skipped = answer.ok ? { skipped: answer.value.skipped } : {};
    return told(`move ${what} from ${shown(from).text}`, answer, target, skipped);
  };

  return {
    clear: clearOne,
    async clearAll(refs) {
      const refusal = refs.map((ref) => judge(registry, keys, ref)).find((answer) => !answer.ok);
      if (refusal !== undefined) return told('change all', refusal, refs.map((ref) => shown(ref).text).join(', '), {});
      const clearances: Clearance[] = [];
      for (const ref of refs) {
        const answer = await clearOne(ref);
        if (!answer.ok) return answer;
        clearances.push(answer.value);
      }
      return ok(clearances);
    },
    clearPromotion: (from, to, options = {}) => move('code', from, to, options),
    clearDataFlow: (from, to, options = {}) => move('data', from, to, options),
    preview: (ref) => judge(registry, keys, ref),
    previewMove,
    look,
    allowUnknown: () => ({
      look(ref) {
        const resolution = registry.resolve(ref);
        return resolution.kind === 'slot' ? resolution.slot : null;
      },
    }),
  };
}
