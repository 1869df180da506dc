/** One hostile thing, tried with its protection in place and with the protection switched off. */
export interface HostileCase {
  readonly name: string;
  /** With the protection: `escaped` says whether it got through, `refusal` by which code it was refused, if it was. */
  attempt(): Promise<{ readonly escaped: boolean; readonly refusal: string | null }>;
  /** The positive control, without the protection: the same thing must get through, or the attempt shows nothing. */
  control(): Promise<{ readonly succeeded: boolean }>;
}
