/** Every queue, wait and buffer of the router has its limit here; a route's own limits come with its contract. */
export const LIMITS = {
  routes: 4_096,
  membersPerRoute: 64,
  /** The most that a route contract may ask for. */
  contractHoldMs: 60_000,
  contractHoldRequests: 65_536,
  contractHoldBytes: 1_073_741_824,
  /** The longest hold; it ends by itself then. */
  holdTermMs: 120_000,
  /** The longest drain that may be asked for. */
  drainMs: 86_400_000,
  /** Before a drain ends, its streams are told for this long, or for half of a shorter drain. */
  noticeMs: 5_000,
  /** The longest idle time that a route contract may ask for. */
  contractIdleMs: 86_400_000,
  /** When a stream has been still for this long, its peer is asked whether it is there (TCP keep-alive). */
  keepAliveProbeMs: 60_000,
  /** What a held stream counts for; nothing of it is read. */
  heldStreamBytes: 1_024,

  /** How much of one request's body is kept so that the request can be sent once more. */
  keptBodyBytes: 262_144,
  /** What a held request may occupy beside its header: the stream buffer that fills before reading pauses. */
  bufferedBodyBytes: 65_536,
  /** How long a request rejected before effect waits for a switch that nobody announced. */
  rejectedWaitMs: 250,

  connectMs: 5_000,
  /** From the request to the first byte of its answer. */
  answerMs: 300_000,
  /** Idle backend connections are dropped before a usual backend would drop them, which would race with a request. */
  backendIdleMs: 1_000,
  backendIdleConnections: 256,
  /** Connections made to the coming members while a hold begins, and how long they wait for the switch. */
  warmConnections: 64,
  warmMs: 5_000,
  backendHeaderBytes: 65_536,

  /** One listener's, whichever of its routes they are for. */
  clientConnectionsPerListener: 16_384,
  clientIdleMs: 75_000,
  clientHeaderMs: 30_000,
  /** Routes told apart by name that may share a listener, and names of one route. */
  routesPerListener: 4_096,
  namesPerRoute: 256,
  certificatesPerRoute: 64,
  certificateFileBytes: 1_048_576,
  handshakeMs: 10_000,
  /** Changes of certificate files are taken together for this long, since a pair is two files. */
  certificateSettleMs: 200,
  listenBacklog: 4_096,

  controlConnections: 16,
  observations: 1_024,
  observationMs: 30_000,
  /** From the connection through the stable address to the member's own. */
  observeStreamMs: 4_000,
  /** How long a stopping router lets open requests end. */
  stopMs: 5_000,
  /** How long a router lets them end whose successor serves already. */
  succeededMs: 30_000,
  /** How long a router whose successor failed waits for its own lock, and how often it looks. */
  takeBackMs: 2_000,
  takeBackEveryMs: 20,

  logLinesPerSecond: 50,
} as const;
