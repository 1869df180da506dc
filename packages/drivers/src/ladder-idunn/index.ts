export { type FleetOptions, fleetOperations } from './operations.ts';
