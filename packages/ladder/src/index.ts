export { EXAMPLE_LADDER } from './ladder/example.ts';
export { FAULT_LIMIT, type Fault } from './ladder/fault.ts';
export { checkDataFlow, checkPromotion, type Hop, rank, requireHop } from './ladder/hop.ts';
export { LADDER_VERSION, type Ladder, type Place, type Role, type Slot } from './ladder/model.ts';
export { parseLadder } from './ladder/parse.ts';
export { roleOf } from './ladder/roles.ts';
