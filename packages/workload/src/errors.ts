/** What the SDK can refuse, each with what to do about it. The same codes stand in Idunn's error catalogue. */
const REMEDIES = {
  'workload-not-managed': 'Start the program through `idunn up`, or use Idunn.standalone({...}) while developing.',
  'workload-launch-invalid': 'Run `idunn up TARGET` again, so that a fresh activation directory is made.',
  'workload-credential-exposed':
    'Run `idunn up TARGET` for a fresh activation, and find out who widened the rights of the file.',
  'workload-already-running': 'End the other process of this activation; Idunn starts exactly one for each.',
  'workload-socket-path-too-long': 'Give the fleet a shorter runtime directory in fleet.toml.',
  'workload-schema-undeclared': 'Pass `stateSchema` to Idunn.connect(), as the recipe declares it.',
  'workload-not-granted': 'Wait for the grant: become active in onGrant, or let the SDK do it.',
  'workload-no-endpoint': "Ask for an endpoint in the recipe's launch contract, then run `idunn up TARGET`.",
  'workload-secret-unknown': 'Name the secret in the recipe and in the binding, then run `idunn up TARGET`.',
  'workload-store-unknown': "Declare the store in the recipe's state contract, then run `idunn up TARGET`.",
  'workload-store-not-a-plain-file':
    'Put the database file itself, with a single link, at the path of the state contract.',
  'workload-store-mount-point': 'Mount the directory that holds the database, never the database file itself.',
  'workload-store-replaced': 'Replace a store only while no program has it open, then run `idunn up TARGET`.',
  'workload-store-uri': "Name the store by its absolute path in the binding's state root, not by a SQLite URI.",
  'workload-store-not-wal': 'Run PRAGMA journal_mode=WAL on the database once, while nothing else has it open.',
  'workload-store-locking': 'Leave locking_mode at NORMAL; remove what sets EXCLUSIVE.',
  'workload-store-without-lease': 'Let Idunn prepare the store: run `idunn up TARGET` again.',
  'workload-store-managed': 'Work on a copy of the database; Idunn.standalone() never takes over managed state.',
  'workload-store-two-libraries': 'Use one SQLite library for all connections of a process to a store.',
  'workload-not-writer': 'Answer 503 with Retry-After and Idunn-Rejected: before-effect; the router asks the writer.',
  'workload-write-nested': 'Use the database handle that the outer callback was given.',
  'workload-write-async': 'Make the callback synchronous; await before or after the transaction.',
  'workload-write-carried': 'Open the store in the process that uses it: call Idunn.connect() there.',
  'workload-statement-refused': 'Leave transactions, attached databases and settings to the SDK.',
  'workload-scope-ended': 'Use the database handle only inside the callback that it was given to.',
  'workload-transaction-lost': 'Nothing was written; look at the cause, and repeat the whole write.',
  'workload-outcome-unknown': 'Read back what the write was to change before repeating it.',
  'workload-connection-limit': 'Open each store once and share it.',
  'workload-stop-limit-passed': 'Make the onStop handlers quicker, or raise stopLimitMs and the drain of the binding.',
} as const;

export type IdunnErrorCode = keyof typeof REMEDIES;

export const ERROR_CODES = Object.keys(REMEDIES) as readonly IdunnErrorCode[];

/** Every error of the SDK. `code` is stable; the message says what happened, `remedy` what to do. */
export class IdunnError extends Error {
  readonly code: IdunnErrorCode;
  readonly remedy: string;

  constructor(code: IdunnErrorCode, reason: string, options?: ErrorOptions) {
    super(`${reason} (${code}). ${REMEDIES[code]}`, options);
    this.name = 'IdunnError';
    this.code = code;
    this.remedy = REMEDIES[code];
  }
}

/**
 * The program may not write, and nothing was done: the request can be sent to the writer unchanged. Thrown before the
 * first statement of a guarded write, never after it.
 */
export class NotWriter extends IdunnError {
  constructor(reason: string) {
    super('workload-not-writer', reason);
    this.name = 'NotWriter';
  }
}

/** What to say about something that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
