export interface Ports {
  readonly from: number;
  readonly to: number;
}
export function freePorts(seed: number): Promise<Ports>;
export function writeFleet(options: {
  readonly fleet: string;
  readonly id: string;
  readonly work: string;
  readonly runtime: string;
  readonly cache?: string;
  readonly repository: string;
  readonly minimumRevision: string;
  readonly ports: Ports;
}): void;
