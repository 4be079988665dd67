export interface ServerEvent {
  readonly event: string;
  /** Of this event or, as the format wants it, of the last one before it that had any. */
  readonly id: string;
  readonly data: string;
}

/** What a stream has said: an event, a sign of life, or how soon to come back. */
export type Said = ServerEvent | { readonly retryMs: number } | undefined;

/** Reads server-sent events as the HTML standard describes them, from pieces cut anywhere. */
export class ServerEventReader {
  readonly #decoder = new TextDecoder();
  #text = '';
  #id = '';
  #event = '';
  #data: string[] = [];

  /** What is complete with this piece. */
  *read(piece: Uint8Array): Generator<Said> {
    this.#text += this.#decoder.decode(piece, { stream: true });
    // A CR at the end may be the first half of a line end.
    const lines = this.#text.split(/\r\n|\n|\r(?!$)/);
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const said = this.#line(line);
      if (said !== undefined) yield said;
    }
  }

  #line(line: string): Said {
    if (line === '') return this.#dispatch();
    const at = line.indexOf(':');
    const name = at === -1 ? line : line.slice(0, at);
    const value = at === -1 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) return { retryMs: Number(value) };
    return undefined;
  }

  #dispatch(): Said {
    const [event, data] = [this.#event || 'message', this.#data];
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? undefined : { event, id: this.#id, data: data.join('\n') };
  }
}
