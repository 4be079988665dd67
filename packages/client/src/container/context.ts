import { existsSync, readFileSync } from 'node:fs';
import { ReactordClient } from '../client.ts';
import { ReactordError } from '../errors.ts';
import { type Environment, Variables } from './variables.ts';

/** Where a message is that cannot be a variable, should the variable that says so be missing. */
const messageFiles = ['/_svc_binary_data', '/_abaco_binary_data'];

/** What an execution knows of itself. The names are those of the variables, without their prefix. */
export class Context {
  /** `str`, `application/json` or `application/octet-stream`. */
  readonly content_type: string;
  readonly execution_id: string;
  /** Who posted the message. */
  readonly username: string;
  /** What the reactor remembered when the execution began; an empty object for a stateless one. */
  readonly state: unknown;
  readonly actor_id: string;
  readonly actor_dbid: string;
  readonly actor_name: string;
  readonly actor_revision: number;
  readonly worker_id: string;
  readonly container_repo: string;
  /** Which try of the execution this is, from 1. */
  readonly attempt: number;
  readonly api_server: string;
  readonly jwt_header_name: string;
  /** The attributes of the CloudEvent that was posted; empty for other messages. */
  readonly event: Readonly<Record<string, string>>;
  readonly #variables: Variables;
  #message: { readonly value: unknown } | undefined;
  #client: ReactordClient | undefined;

  constructor(environment: Environment) {
    const variables = new Variables(environment);
    this.#variables = variables;
    this.execution_id = variables.need('execution_id');
    this.actor_id = variables.need('actor_id');
    this.content_type = variables.get('Content_Type');
    this.username = variables.get('username');
    this.state = parsed(variables.find('actor_state') ?? '{}');
    this.actor_dbid = variables.get('actor_dbid');
    this.actor_name = variables.get('actor_name');
    this.actor_revision = Number(variables.get('actor_revision'));
    this.worker_id = variables.get('worker_id');
    this.container_repo = variables.get('container_repo');
    this.attempt = Number(variables.find('attempt') ?? 1);
    this.api_server = variables.get('api_server');
    this.jwt_header_name = variables.get('jwt_header_name');
    this.event = variables.startingWith('ce_');
  }

  /** Text, a Uint8Array for bytes, or what JSON says, by the content type. Read when it is first asked for. */
  get raw_message(): unknown {
    this.#message ??= { value: this.#read() };
    return this.#message.value;
  }

  /** The message where it is a JSON object. */
  get message_dict(): Readonly<Record<string, unknown>> | undefined {
    const message = this.raw_message;
    const isJson = this.content_type === 'application/json';
    return isJson && isObject(message) ? message : undefined;
  }

  /** Acts for the user who posted the message, as long as the execution runs. */
  get access_token(): string {
    return this.#variables.get('access_token');
  }

  /** The service, called with the execution's own token. */
  get client(): ReactordClient {
    if (this.access_token === '')
      throw new ReactordError(
        'no_token',
        'This execution has no token: register the reactor with token=true.',
      );
    const baseUrl = this.#variables.need('api_server');
    this.#client ??= new ReactordClient({ baseUrl, auth: this.access_token });
    return this.#client;
  }

  #read(): unknown {
    const bytes = this.#bytes();
    if (this.content_type === 'application/octet-stream') return bytes;
    const text = typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes);
    return this.content_type === 'application/json' ? parsed(text) : text;
  }

  #bytes(): string | Uint8Array {
    const file =
      this.#variables.find('message_file') ?? messageFiles.find((path) => existsSync(path));
    // Of a message that is a variable there is no file.
    if (file === undefined || file === '') return this.#variables.message ?? '';
    return new Uint8Array(readFileSync(file));
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
