import assert from 'node:assert/strict';

/** One server-sent event, with the time of its arrival. */
export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: ReturnType<typeof JSON.parse>;
  readonly arrivedAt: number;
}

export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** The events as they come; ends with the stream. */
  events(): AsyncGenerator<ServerEvent>;
  /** Reads to the end. */
  all(): Promise<ServerEvent[]>;
  /** Leaves, as a client does whose connection is gone. */
  leave(): void;
}

/** Opens a stream of events, as a client that speaks the format by the letter. */
export async function openEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventStream> {
  const left = new AbortController();
  const reply = await fetch(url, { headers, signal: left.signal });
  async function* events(): AsyncGenerator<ServerEvent> {
    let text = '';
    const decoder = new TextDecoder();
    // Asked of the reply: fetch gives up the body of one that nobody holds any more.
    for await (const piece of reply.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const event = parse(text.slice(0, end));
        text = text.slice(end + 2);
        if (event !== undefined) yield event;
      }
    }
    assert.equal(text, '', 'the stream ends behind an event');
  }
  return {
    status: reply.status,
    headers: reply.headers,
    events,
    all: async () => {
      const found: ServerEvent[] = [];
      for await (const event of events()) found.push(event);
      return found;
    },
    leave: () => left.abort(),
  };
}

function parse(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([a-z]*): ?(.*)$/.exec(line) ?? assert.fail(line);
    assert.ok(!fields.has(name), 'each field once');
    fields.set(name, value);
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id'),
    data: JSON.parse(data),
    arrivedAt: Date.now(),
  };
}
