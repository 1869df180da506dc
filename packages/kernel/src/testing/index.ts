export { FakeTime } from './fake-time.ts';
export { checkGolden } from './golden.ts';
export { CONTRACT_KINDS, type RecordStoreHarness, recordStoreContract } from './record-store-contract.ts';
