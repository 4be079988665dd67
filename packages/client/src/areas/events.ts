import type { Api, CallOptions } from '../api.ts';
import type { Event } from '../generated/api.ts';
import { follow } from '../streams/following.ts';

export type EventType = Event['event_type'];

/** What happened, and its number, behind which one can go on. */
export interface ToldEvent extends Event {
  readonly id: string;
}

export interface FollowEventOptions extends CallOptions {
  /** Only those of this reactor. */
  readonly reactorId?: string | undefined;
  /** Only those of these types. */
  readonly types?: readonly EventType[] | undefined;
  /** Begin behind the event of this id; '0': with the oldest that is kept. */
  readonly after?: string | undefined;
  /** For admins: those of all users. */
  readonly all?: boolean | undefined;
}

export class Events {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** What happens to reactors and executions from now on. Ends with the signal, or when the token does. */
  async *follow(options: FollowEventOptions = {}): AsyncGenerator<ToldEvent, void, void> {
    const { reactorId, types, after, all, signal, timeoutMs } = options;
    const events = follow({
      signal,
      isLast: () => false,
      open: (lastId = after, ended) =>
        this.#api.open('GET /actors/v2/events', {
          query: { reactor: reactorId, type: types?.join(','), all },
          headers: {
            accept: 'text/event-stream',
            ...(lastId !== undefined && { 'last-event-id': lastId }),
          },
          options: { signal: ended, timeoutMs },
        }),
    });
    for await (const { id, data } of events) yield { ...JSON.parse(data), id };
  }
}
