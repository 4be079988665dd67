import type { Api, CallOptions, Input } from '../api.ts';
import { ReactordError, TimeoutError } from '../errors.ts';
import {
  type Inbox,
  type PostedBatch,
  type PostedMessage,
  type PurgedInbox,
  type Reactor,
  reactorFields,
  type Utilization,
  type WebhookSecret,
} from '../generated/api.ts';
import { pause } from '../http/pause.ts';
import type { Listing } from '../listing.ts';
import { byLink } from '../paging.ts';
import {
  type AnsweredMessage,
  type CloudEvent,
  type Message,
  type SendOptions,
  sendCloudEvents,
  sendMany,
  sendOne,
  type WaitOptions,
} from './sending.ts';

export type NewReactor = Input<'POST /actors/v2'>;

/** Some fields of a reactor; null takes one back to its default. */
export type ReactorChanges = Changes<NewReactor>;
type Changes<Fields> = Fields extends unknown
  ? { readonly [Field in keyof Fields]?: Fields[Field] | null | undefined }
  : never;

export interface ReactorListOptions extends CallOptions {
  /** How many on a page. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** For admins: those of all users. */
  readonly all?: boolean | undefined;
}

export interface ReadyOptions extends CallOptions {
  /** How long to wait, in milliseconds; 10 minutes unless said, since images are large. */
  readonly withinMs?: number | undefined;
  /** Told whenever the status or its message has changed: how far the image is. */
  readonly onProgress?: ((reactor: Reactor) => void) | undefined;
}

/** Reactors, and the messages that make them run. Wherever an id is taken, an alias is too. */
export class Reactors {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Registers a reactor. Its image is pulled in the background: see `untilReady`. */
  create(reactor: NewReactor, options?: CallOptions): Promise<Reactor> {
    return this.#api.call('POST /actors/v2', { json: reactor, options });
  }

  /** Your own, and those shared with you; newest first. */
  list(options: ReactorListOptions = {}): Listing<Reactor> {
    const { limit, offset, all, ...rest } = options;
    const call = { query: { limit, offset, all }, options: rest };
    return byLink(this.#api, 'GET /actors/v2', call, (reply) => {
      const items = 'search' in reply ? reply.search : reply;
      return { page: items, items };
    });
  }

  get(reactorId: string, options?: CallOptions): Promise<Reactor> {
    return this.#api.call('GET /actors/v2/{reactorId}', { path: { reactorId }, options });
  }

  /** Takes the complete description: what is not given returns to its default. */
  replace(reactorId: string, reactor: NewReactor, options?: CallOptions): Promise<Reactor> {
    const call = { path: { reactorId }, json: reactor, options };
    return this.#api.call('PUT /actors/v2/{reactorId}', call);
  }

  /**
   * Changes some fields and leaves the others as they are; null takes a field back to its default. Who replaces the
   * reactor between the reading and the writing is overwritten.
   */
  async update(
    reactorId: string,
    changes: ReactorChanges,
    options?: CallOptions,
  ): Promise<Reactor> {
    const fields = { ...registered(await this.get(reactorId, options)), ...camelKeys(changes) };
    const kept = Object.entries(fields).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    const { image, ...others } = Object.fromEntries(kept);
    return this.replace(reactorId, { ...others, image: String(image) }, options);
  }

  /** Stops what runs and drops what waits. Resolves when it is gone, or is on its way. */
  async delete(reactorId: string, options?: CallOptions): Promise<void> {
    await this.#api.call('DELETE /actors/v2/{reactorId}', { path: { reactorId }, options });
  }

  /** Waits for the image. Fails with the reactor's own words when it cannot be had. */
  async untilReady(reactorId: string, options: ReadyOptions = {}): Promise<Reactor> {
    const { withinMs = 600_000, onProgress, ...rest } = options;
    const deadline = Date.now() + withinMs;
    let told = '';
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 1.5, 1000)) {
      const reactor = await this.get(reactorId, rest);
      const { status, statusMessage } = reactor;
      if (told !== `${status} ${statusMessage}`) onProgress?.(reactor);
      told = `${status} ${statusMessage}`;
      if (status === 'READY') return reactor;
      if (status !== 'SUBMITTED')
        throw new ReactordError('reactor_not_ready', `The reactor ${reactorId}: ${statusMessage}`);
      if (Date.now() + waitMs > deadline)
        throw new TimeoutError(
          `The reactor ${reactorId} was not ready after ${withinMs / 1000} s: ${statusMessage}`,
        );
      await pause(waitMs, rest.signal);
    }
  }

  /**
   * Posts a message: text, bytes, or anything else as JSON. It is kept when this resolves. With `wait`, the reply is held
   * until the first result or the end. A key is sent with it, so that it runs once however often the network makes us ask.
   */
  send(
    reactorId: string,
    message: Message,
    options: SendOptions & WaitOptions,
  ): Promise<AnsweredMessage>;
  send(
    reactorId: string,
    message: Message,
    options?: SendOptions & { readonly wait?: undefined },
  ): Promise<PostedMessage>;
  send(
    reactorId: string,
    message: Message,
    options: SendOptions & { readonly wait?: number | true | undefined } = {},
  ): Promise<PostedMessage | AnsweredMessage> {
    return sendOne(this.#api, reactorId, message, options);
  }

  /** Posts messages together, in their order: all are accepted or none. Each is JSON, or text as JSON has it. */
  sendMany(
    reactorId: string,
    messages: Iterable<unknown>,
    options: SendOptions = {},
  ): Promise<PostedBatch> {
    return sendMany(this.#api, reactorId, messages, options);
  }

  /** Posts a CloudEvent; its attributes are variables of the execution. */
  sendEvent(
    reactorId: string,
    event: CloudEvent,
    options: SendOptions = {},
  ): Promise<PostedMessage> {
    return sendCloudEvents(this.#api, reactorId, event, options);
  }

  /** Posts CloudEvents together. */
  sendEvents(
    reactorId: string,
    events: readonly CloudEvent[],
    options: SendOptions = {},
  ): Promise<PostedBatch> {
    return sendCloudEvents(this.#api, reactorId, events, options);
  }

  /** How many messages wait, and the oldest of them. */
  inbox(
    reactorId: string,
    options: CallOptions & { readonly peek?: number | undefined } = {},
  ): Promise<Inbox> {
    const { peek, ...rest } = options;
    const call = { path: { reactorId }, query: { peek }, options: rest };
    return this.#api.call('GET /actors/v2/{reactorId}/messages', call);
  }

  /** Drops every message that waits. */
  purge(reactorId: string, options?: CallOptions): Promise<PurgedInbox> {
    const call = { path: { reactorId }, options };
    return this.#api.call('DELETE /actors/v2/{reactorId}/messages', call);
  }

  /** With which the reactor's webhook is signed. */
  webhookSecret(reactorId: string, options?: CallOptions): Promise<WebhookSecret> {
    const call = { path: { reactorId }, options };
    return this.#api.call('GET /actors/v2/{reactorId}/webhook-secret', call);
  }

  /** Gives the webhook a new secret; the one before it goes on for a while. */
  rotateWebhookSecret(reactorId: string, options?: CallOptions): Promise<WebhookSecret> {
    const call = { path: { reactorId }, options };
    return this.#api.call('POST /actors/v2/{reactorId}/webhook-secret', call);
  }

  /** How much of the service is in use. */
  utilization(options?: CallOptions): Promise<Utilization> {
    return this.#api.call('GET /actors/v2/utilization', { options });
  }
}

/** What of a record can be registered again. */
function registered(reactor: Reactor): Readonly<Record<string, unknown>> {
  const known = new Set<string>(reactorFields);
  return Object.fromEntries(Object.entries(reactor).filter(([name]) => known.has(name)));
}

const camelKeys = (fields: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/(?<=.)_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
