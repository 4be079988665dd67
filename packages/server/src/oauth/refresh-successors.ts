import { createHmac } from 'node:crypto';
import type { Store } from '../store/store.ts';
import { secretFrom } from './secret-format.ts';
import { serviceKey } from './service-key.ts';

/** Derives the token that replaces a refresh token, the same each time: only hashes are kept, so it could not be looked up. */
export class RefreshSuccessors {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  static async open(store: Store): Promise<RefreshSuccessors> {
    return new RefreshSuccessors(await serviceKey(store, 'refresh_successors'));
  }

  of(refreshToken: string): string {
    return secretFrom(
      'refreshToken',
      createHmac('sha256', this.#key).update(refreshToken).digest(),
    );
  }
}
