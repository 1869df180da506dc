import { leasePortContract } from '@idunn/authority/testing';
import type { StateContract, StateStore } from '@idunn/release';
import { Yard } from './testing/yard.ts';

const sqlite = (id: string): StateStore => ({ id, kind: 'sqlite', path: `${id}.db` });
const files: StateStore = { id: 'uploads', kind: 'files', path: 'uploads' };
const shapes: Readonly<Record<string, { lease: StateContract['lease']; stores: readonly StateStore[] }>> = {
  'a row in one SQLite store': { lease: 'rows', stores: [sqlite('db')] },
  'rows in two SQLite stores': { lease: 'rows', stores: [sqlite('one'), sqlite('two')] },
  'a row in a SQLite store beside files': { lease: 'rows', stores: [sqlite('db'), files] },
  'a lease file beside files': { lease: 'file', stores: [files] },
  'a lease file beside a SQLite store that is not ours': { lease: 'file', stores: [sqlite('theirs')] },
};

for (const [name, { lease, stores }] of Object.entries(shapes)) {
  leasePortContract(name, (t) => {
    const yard = new Yard(t);
    return { lease: yard.lease, state: { ...yard.state(...stores), lease } };
  });
}
