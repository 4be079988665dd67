import { fail } from '../errors.ts';
import { addressBlock } from '../identity/address-block.ts';
import { FailedLogins } from '../identity/failed-logins.ts';

/** Slows down whoever begins logins of devices by the dozen in the name of a client that proves nothing. */
export class DeviceStarts {
  /** Twenty in ten minutes cost nothing: a class room behind one address begins a lesson. */
  readonly #begun = new FailedLogins({
    free: 20,
    mostSeconds: 60,
    memoryMs: 600_000,
    keys: 20_000,
  });

  /** Throws too_many_requests while the address has to wait. */
  admit(address: string): void {
    const from = addressBlock(address);
    const now = Date.now();
    const seconds = Math.ceil(this.#begun.waitFor(from, now) / 1000);
    if (seconds > 0) {
      throw fail('too_many_requests', {
        problem: 'Too many logins were begun from here.',
        seconds,
      }).withHeaders({ 'retry-after': String(seconds) });
    }
    this.#begun.count(from, now);
  }
}
