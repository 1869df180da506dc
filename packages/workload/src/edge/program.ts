/** The running program as a port: its environment, its end and its log. */
export interface Program {
  environment(name: string): string | undefined;
  readonly pid: number;
  /** Calls `fire` when the program is asked to end (SIGTERM, or SIGINT at a terminal). */
  onTermination(fire: () => void): void;
  exit(code: number): void;
  log(line: string): void;
}

export const realProgram: Program = {
  environment: (name) => process.env[name],
  pid: process.pid,
  onTermination(fire) {
    process.once('SIGTERM', fire);
    process.once('SIGINT', fire);
  },
  exit: (code) => process.exit(code),
  log: (line) => {
    console.error(`idunn: ${line}`);
  },
};
