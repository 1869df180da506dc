import { test } from 'node:test';
import * as ladder from '../index.ts';
import { GUARANTEES, type Guarantee } from './testing/guarantees.ts';

for (const [name, guarantee] of Object.entries<Guarantee>(GUARANTEES)) test(name, () => guarantee(ladder));
