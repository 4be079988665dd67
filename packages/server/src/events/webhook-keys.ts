import { createHmac } from 'node:crypto';
import { serviceKey } from '../oauth/service-key.ts';
import type { Reactor } from '../reactors/reactor.ts';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** How long a key still signs, beside the new one, after it was replaced. */
export const overlapMs = 24 * 3_600_000;

export const useNextKey = prepared((db, p: { id: string; now: number }) =>
  db
    .updateTable('reactors')
    .set((eb) => ({ webhook_key: eb('webhook_key', '+', 1), webhook_rotated_at: p.now }))
    .where('id', '=', p.id)
    .where('status', '!=', 'SHUTTING_DOWN'),
);

type Keyed = Pick<Reactor, 'id' | 'webhookKey' | 'webhookRotatedAt'>;

/**
 * The keys that webhooks are signed with, one for each reactor. They are derived from a key of the service and counted,
 * not kept: there is no list of secrets that could be read or lost.
 */
export class WebhookKeys {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  static async open(store: Store): Promise<WebhookKeys> {
    return new WebhookKeys(await serviceKey(store, 'webhooks'));
  }

  /** As Standard Webhooks writes it: whsec_ and base64. */
  secretOf({ id, webhookKey }: Pick<Keyed, 'id' | 'webhookKey'>): string {
    return `whsec_${this.#derive(id, webhookKey).toString('base64')}`;
  }

  /** The headers of one attempt. */
  sign(keyed: Keyed, messageId: string, body: string, now: number): Record<string, string> {
    const timestamp = String(Math.floor(now / 1000));
    const { id, webhookKey, webhookRotatedAt } = keyed;
    const keys = [webhookKey];
    if (webhookRotatedAt !== null && now < webhookRotatedAt + overlapMs) keys.push(webhookKey - 1);
    const signatures = keys.map((number) => {
      const hmac = createHmac('sha256', this.#derive(id, number));
      return `v1,${hmac.update(`${messageId}.${timestamp}.${body}`).digest('base64')}`;
    });
    return {
      'webhook-id': messageId,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    };
  }

  #derive(reactorId: string, number: number): Buffer {
    return createHmac('sha256', this.#key).update(`${reactorId} ${number}`).digest();
  }
}
