/** An attempt to deliver an event that did not succeed; the message says why. */
export class Undelivered extends Error {
  /** What the receiver answered, where it did. */
  readonly code: number | null;
  /** Trying again does not help. */
  readonly lasting: boolean;

  constructor(message: string, { code = null as number | null, lasting = false } = {}) {
    super(message);
    this.code = code;
    this.lasting = lasting;
  }
}
