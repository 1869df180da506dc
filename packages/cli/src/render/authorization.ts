import type { AuthorizationAnswer } from '@idunn/client';
import { table } from './table.ts';

/** One word of an authorizer. */
export const authorizationLines = (one: AuthorizationAnswer): string[] =>
  table([
    ['authorized', one.repeated ? `${one.target}, as before` : one.target],
    ['commit', one.commit],
    ['build', one.build ?? 'whichever comes out'],
    ['valid', `from ${one.notBefore} until ${one.notAfter}`],
    ['key id', one.keyId],
    ['sequence', `${one.sequence}`],
    ['digest', one.digest],
  ]);
