export { checkGolden } from './golden.ts';
export { CONTRACT_KINDS, type RecordStoreHarness, recordStoreContract } from './record-store-contract.ts';
