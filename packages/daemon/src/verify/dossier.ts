import { keyOf, type RecordOf, type TargetRecord } from '@idunn/authority';
import type { RecordStore } from '@idunn/kernel';
import type { Plan } from '@idunn/release';

type Admitted = NonNullable<TargetRecord['admitted']>;
export type IncarnationRecord = RecordOf<'incarnation'>;

/** Everything that the records say of one incarnation. */
export interface Dossier {
  readonly record: IncarnationRecord;
  readonly plan: Plan;
  /** The process that carries it; `null` when it is not the admitted one. */
  readonly body: Admitted | null;
  /** The observer's word that it was admitted on; `null` without one. */
  readonly ready: RecordOf<'ready-proof'> | null;
}

export type Records = Pick<RecordStore, 'get' | 'list'>;

const PAGE = 500;

/** The dossier of an incarnation by its key; `null` when no record of it is kept. */
export async function dossierOf(store: Records, incarnation: string): Promise<Dossier | null> {
  const record = await read<'incarnation'>(store, 'incarnation', incarnation);
  if (record === null) return null;
  const plan = await read<'plan'>(store, 'plan', record.plan);
  if (plan === null) return null;
  const admitted = await admittedOf(store, record.target);
  const body = admitted?.incarnation === incarnation ? admitted : null;
  const ready = body === null ? null : await read<'ready-proof'>(store, 'ready-proof', body.document.activation);
  return { record, plan: plan.plan, body, ready };
}

/** What is admitted for a target, by its record alone; `null` when nothing is. */
export const admittedOf = async (store: Records, target: string): Promise<Admitted | null> =>
  (await read<'target'>(store, 'target', target))?.admitted ?? null;

/** The dossier of what is admitted for a target; `null` when nothing is. */
export async function admittedDossier(store: Records, target: string): Promise<Dossier | null> {
  const admitted = await admittedOf(store, target);
  return admitted === null ? null : dossierOf(store, admitted.incarnation);
}

/** The newest incarnation that runs a release. */
export const incarnationOf = async (store: Records, release: string): Promise<string | null> =>
  (await newestIncarnation(store, (record) => record.release.release === release))?.incarnation ?? null;

/** The newest incarnation that fits; read in pages, because only a person's question needs it. */
export async function newestIncarnation(
  store: Records,
  fits: (record: IncarnationRecord) => boolean,
): Promise<IncarnationRecord | null> {
  const { space } = keyOf('incarnation', '');
  let newest: IncarnationRecord | null = null;
  for (let after: string | undefined; ; ) {
    const page = await store.list(space, 'incarnation', after === undefined ? { limit: PAGE } : { limit: PAGE, after });
    for (const { value } of page) {
      const record = value as unknown as IncarnationRecord;
      if (!fits(record)) continue;
      if (newest === null || record.sealedAt.wallMs >= newest.sealedAt.wallMs) newest = record;
    }
    after = page.at(-1)?.key.id;
    if (after === undefined || page.length < PAGE) return newest;
  }
}

async function read<K extends 'incarnation' | 'plan' | 'target' | 'ready-proof'>(
  store: Records,
  kind: K,
  id: string,
): Promise<RecordOf<K> | null> {
  const stored = await store.get(keyOf(kind, id));
  return stored === null ? null : (stored.value as unknown as RecordOf<K>);
}
