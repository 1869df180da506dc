export { type LeaseHarness, leasePortContract } from './lease-port-contract.ts';
