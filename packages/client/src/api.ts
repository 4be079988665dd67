import type { Operations } from './generated/api.ts';
import { fillPath, nextQuery, type Query } from './http/address.ts';
import { resultOf } from './http/replies.ts';
import type { Repeating } from './http/retries.ts';
import type { Outgoing, SentBody, Transport } from './http/transport.ts';
import type { Spelled } from './spelling.ts';

/** What every method takes. */
export interface CallOptions {
  /** Ends the call; it then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long one try may take, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

export type OperationName = keyof Operations;
type Path<Name extends OperationName> = Operations[Name]['path'];
type Body<Name extends OperationName> = Operations[Name]['body'];
export type QueryOf<Name extends OperationName> = Operations[Name]['query'];
export type ReplyOf<Name extends OperationName> = Operations[Name]['reply'];
export type Input<Name extends OperationName> = Spelled<Body<Name>>;

type Given<Part extends string, Value> =
  Record<never, never> extends Value
    ? { readonly [Key in Part]?: Value | undefined }
    : { readonly [Key in Part]: Value };

export type Call<Name extends OperationName> = Given<'path', Path<Name>> & {
  readonly query?: QueryOf<Name> | Query | undefined;
  /** Sent as JSON. */
  readonly json?: Input<Name> | undefined;
  /** Sent as it is, with its type in `headers`. */
  readonly body?: SentBody | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly repeating?: Repeating | undefined;
  readonly extraMs?: number | undefined;
  readonly options?: CallOptions | undefined;
};

/** The operations of the service by their names in its description. What the areas are made of. */
export class Api {
  readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** The result, out of its envelope. */
  async call<Name extends OperationName>(name: Name, call: Call<Name>): Promise<ReplyOf<Name>> {
    return this.transport.exchange(outgoing(name, call), resultOf);
  }

  /** The result, and the query of the page behind it. */
  async page<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
  ): Promise<{ readonly result: ReplyOf<Name>; readonly next: Query | undefined }> {
    return this.transport.exchange(outgoing(name, call), async (reply) => ({
      result: await resultOf(reply),
      next: nextQuery(reply.headers.get('link')),
    }));
  }

  /** Whatever is to be read of the reply. */
  async read<Name extends OperationName, Answer>(
    name: Name,
    call: Call<Name>,
    read: (reply: Response) => Promise<Answer>,
  ): Promise<Answer> {
    return this.transport.exchange(outgoing(name, call), read);
  }

  /** The reply, with its body still to come. */
  async open<Name extends OperationName>(name: Name, call: Call<Name>): Promise<Response> {
    return this.transport.open(outgoing(name, call));
  }
}

const safeVerbs = new Set(['GET', 'PUT', 'DELETE']);

function outgoing<Name extends OperationName>(name: Name, call: Call<Name>): Outgoing {
  const [method = '', path = ''] = name.split(' ');
  const { json, headers = {} } = call;
  return {
    method,
    path: fillPath(path, call.path ?? {}),
    query: readQuery(call.query ?? {}),
    headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: json === undefined ? call.body : JSON.stringify(json),
    repeating: call.repeating ?? (safeVerbs.has(method) ? 'safe' : 'unsafe'),
    extraMs: call.extraMs,
    ...call.options,
  };
}

function readQuery(query: Readonly<Record<string, unknown>>): Query {
  const values = Object.entries(query).filter(
    (pair): pair is [string, string | number | boolean | string[]] =>
      pair[1] !== undefined && pair[1] !== null,
  );
  return Object.fromEntries(values);
}
