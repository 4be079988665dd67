import { hash } from 'node:crypto';
import type { AccessChanges } from '../identity/access-changes.ts';
import type { Store } from '../store/store.ts';
import { BoundedMemory, type Remembered } from './access-memory.ts';
import type { Client } from './client.ts';
import type { Clients } from './clients.ts';

const mostProofs = 10_000;

interface ProofParts {
  readonly store: Store;
  readonly clients: Pick<Clients, 'authenticate' | 'publicByKey'>;
  readonly changes: Pick<AccessChanges, 'onChange' | 'generation'>;
}

interface Proof {
  readonly client: Client;
  readonly unchanged: Remembered<string>;
}

/**
 * Remembers which key and secret belong together until the client is changed, as each token that a client asks for
 * would otherwise begin with the same search. Kept by hash; what was wrong is never remembered.
 */
export class ClientProofs {
  readonly #parts: ProofParts;
  readonly #proofs = new BoundedMemory<Proof>(mostProofs);
  readonly #clients = new BoundedMemory<string>(mostProofs);

  constructor(parts: ProofParts) {
    this.#parts = parts;
    parts.changes.onChange(({ kind, subject }) => {
      if (kind === 'client') this.#clients.forget(subject);
    });
  }

  /** A client that has nothing to prove itself with. */
  named(key: string): Promise<Client | undefined> {
    return this.#parts.clients.publicByKey(key);
  }

  /** The client that has proved itself with this very header before. */
  proved(header: string): Client | undefined {
    const known = this.#proofs.get(hash('sha256', header, 'base64'))?.value;
    return known?.unchanged.live === true ? known.client : undefined;
  }

  /** `header`: the one in which key and secret came, by which they are known again. */
  async authenticate(key: string, secret: string, header?: string): Promise<Client | undefined> {
    // The length keeps `ab` + `c` apart from `a` + `bc`.
    const pair = hash('sha256', `${key.length} ${key}${secret}`, 'base64');
    const known = this.#proofs.get(pair)?.value;
    if (known?.unchanged.live === true) return known.client;
    const before = this.#parts.changes.generation;
    const client = await this.#parts.clients.authenticate(key, secret);
    if (client === undefined || (await this.#rotates(client.id))) return client;
    if (this.#parts.changes.generation === before) {
      const { id } = client;
      const unchanged = this.#clients.get(id) ?? this.#clients.remember(id, id);
      this.#proofs.remember(pair, { client, unchanged });
      if (header !== undefined)
        this.#proofs.remember(hash('sha256', header, 'base64'), { client, unchanged });
    }
    return client;
  }

  /** While a former secret is still good, nothing is remembered: its time ends without a change to announce it. */
  async #rotates(clientId: string): Promise<boolean> {
    const row = await this.#parts.store.read
      .selectFrom('clients')
      .select('previous_secret_until')
      .where('id', '=', clientId)
      .executeTakeFirst();
    return row?.previous_secret_until !== null;
  }
}
