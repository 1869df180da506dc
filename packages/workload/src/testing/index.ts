/** For the tests of programs that speak for others. */
export { ACTIVATION, AUDIENCE, makeActivation, payloadOf } from './authority.ts';
export { FakeMachine } from './machine.ts';
