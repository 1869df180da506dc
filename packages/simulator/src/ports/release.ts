import { type Digest, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Planned, ReleasePort, SealedRelease } from '@idunn/release';
import { askedFor } from '../world/repository.ts';
import { behaviourOf, digestOf, planFor, sealedFor, shapeAt, type TargetShape } from '../world/sources.ts';
import type { World } from '../world/world.ts';
import { denied } from './lies.ts';
import type { Life } from './life.ts';

export interface Sources {
  readonly shapeOf: (target: string) => TargetShape;
  /** The state schema of a ref: most share one. */
  readonly schemaOf: (ref: string) => string;
  readonly headOf: (target: string) => string;
}

/** Refs become plans, plans become sealed releases; a build takes a while and may be aborted. */
export function fakeRelease(world: World, life: Life, sources: Sources): ReleasePort {
  return {
    plan: ({ target, ref = sources.headOf(target) }) =>
      life.effect(
        'plan',
        (): Outcome<Planned> => {
          const asked = askedFor(target, ref);
          if (asked?.ok === false) return asked;
          const plan =
            asked?.value ?? planFor(target, ref, shapeAt(sources.shapeOf(target), ref), sources.schemaOf(ref));
          world.plans.set(plan.source.commit, plan);
          world.refs.set(plan.source.commit, ref);
          return ok({ plan, fetchMs: 0 });
        },
        { lies: { denied } },
      ),
    materialize: (plan) =>
      life.effect(
        'materialize',
        (): Outcome<{ stage: Digest; fetchMs: number }> =>
          ok({ stage: digestOf(`stage ${plan.source.commit}`), fetchMs: 0 }),
        { lies: { denied } },
      ),
    seal: async (plan) => {
      await world.time.sleep(world.slowBuilds.has(plan.target) ? 3_000 : world.dice.between(1, 40));
      return life.effect(
        'seal',
        (): Outcome<SealedRelease & { stepsMs: number }> => {
          const ref = world.refs.get(plan.source.commit) ?? '';
          if (behaviourOf(ref) === 'build-fails') {
            return refused(refusal('step-failed', 'The simulated build does not build.'));
          }
          return ok({ ...sealedFor(plan), stepsMs: 1 });
        },
        {
          lies: {
            denied: () => refused(refusal('step-failed', 'The simulated runner says that a step failed.')),
            // Another program than the one that will run: what runs is observed and held against it (I2).
            garbled: () => ok({ ...sealedFor(plan), executableDigest: digestOf('built elsewhere'), stepsMs: 1 }),
          },
        },
      );
    },
    installed: (release) =>
      life.read((): Outcome<SealedRelease> => {
        const sealed = [...world.plans.values()].map(sealedFor).find((one) => one.release === release);
        return sealed === undefined ? refused(refusal('driver-fault', 'There is no such release.')) : ok(sealed);
      }),
    collect: (keep) =>
      life.effect('collect', () => {
        world.collected.push([...keep]);
      }),
  };
}
