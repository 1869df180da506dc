/** What a launcher is told: written before its ticket is taken, read once when it begins. */
export interface GateOrders {
  readonly schema: 'idunn.gate-orders/v1';
  readonly activation: string;
  readonly stateId: string;
  /** Where it listens for its grant. */
  readonly socket: string;
  /** Created exclusively by the launcher before it becomes the program: a gate opens once (I1). */
  readonly opened: string;
  /** The lease file; its row is read again at the gate. */
  readonly lease: string;
  /** The program, with what holds its limits before it. */
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
}

/** The launcher's record of the grant that it took. */
export interface GateOpened {
  readonly schema: 'idunn.gate-opened/v1';
  readonly activation: string;
  readonly epoch: number;
}

/** One line on the gate's socket. */
export interface GateGrant {
  readonly activation: string;
  readonly epoch: number;
}

/** The launcher's answer to a grant that opens nothing; one that opens it is answered by the end of the connection. */
export interface GateRefusal {
  readonly because: string;
}

/** Longest line on the socket, in bytes. */
export const GATE_LINE_LIMIT_BYTES = 4_096;
