/**
 * The one registry of errors a caller can meet: a code, the HTTP status, and the sentence.
 * A sentence says what was wrong with which field and what to do; `{name}` is filled in by the thrower.
 * docs/reference/errors.md is generated from this table.
 */
interface ErrorEntry {
  readonly status: number;
  readonly message: string;
  readonly when: string;
}

export const errorRegistry = {
  invalid_field: {
    status: 400,
    message: '{field}: {problem}',
    when: 'A field of the body, the query or the path has a value it does not allow.',
  },
  unknown_field: {
    status: 400,
    message: '{field} is not a field of this operation{suggestion}. Remove it or correct its name.',
    when: 'The request carries a field that the operation does not know.',
  },
  malformed_json: {
    status: 400,
    message: 'The body is not valid JSON: {problem}. Send one complete JSON document.',
    when: 'The Content-Type is JSON and the body cannot be parsed.',
  },
  malformed_form: {
    status: 400,
    message: 'The form body is malformed: {problem}.',
    when: 'The Content-Type is a form and the body has broken percent-encoding or is not UTF-8.',
  },
  malformed_request: {
    status: 400,
    message: 'The request is malformed: {problem}.',
    when: 'The request line, a header or the address cannot be understood.',
  },
  empty_body: {
    status: 400,
    message: 'The body is empty. Send the fields of the operation as JSON or as a form.',
    when: 'A body was announced by its Content-Type and nothing came.',
  },
  missing_credentials: {
    status: 401,
    message: 'This operation needs {needed}.',
    when: 'The request carries no credentials. `fault.code` is 900902.',
  },
  invalid_credentials: {
    status: 401,
    message: '{problem}',
    when: 'The token is unknown, expired or revoked, or the username or password is wrong. `fault.code` is 900904.',
  },
  not_subscribed: {
    status: 403,
    message:
      'The client {client} is not subscribed to the API {api}. Subscribe it: POST /clients/v2/{client}/subscriptions with name={api}.',
    when: "The token's client has no subscription to the API.",
  },
  no_grant: {
    status: 403,
    message:
      'The user {username} has no permission for {area}. An admin gives it: grants ["{grant}"].',
    when: 'The user may not use this area of the service.',
  },
  not_allowed: {
    status: 403,
    message: '{problem}',
    when: 'The caller is known and may not do this.',
  },
  missing_permission: {
    status: 403,
    message:
      'This needs the permission {needs} on the {what}, and yours is {level}. Ask its owner {owner} for it.',
    when: 'The caller may know of the resource, and may not do this with it.',
  },
  unknown_resource: {
    status: 404,
    message: 'There is no {kind} called {name}.',
    when: 'The resource does not exist, or the caller may not know of it.',
  },
  unknown_api: {
    status: 404,
    message: 'There is no API called {name}. The APIs are {known}; * means all of them.',
    when: 'A subscription names an API that the service does not have.',
  },
  unknown_path: {
    status: 404,
    message: 'There is nothing at {path}. See /docs for every operation.',
    when: 'No operation has this path.',
  },
  wrong_verb: {
    status: 405,
    message: '{method} is not allowed on {path}. Allowed: {allowed}.',
    when: 'The path is known, with other verbs; they are in the Allow header.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive completely in time. Send it again.',
    when: 'Headers or body came too slowly.',
  },
  name_taken: {
    status: 409,
    message: 'There is a {kind} called {name} already. Choose another name.',
    when: 'The name is in use.',
  },
  conflict: {
    status: 409,
    message: '{problem}',
    when: 'What was asked does not fit the state the resource is in.',
  },
  idempotency_key_reused: {
    status: 422,
    message:
      'Idempotency-Key: {key} was used with another request to this reactor. Send a new key with a new message.',
    when: 'A key that is remembered comes with another body, type or query. Sending it again does not help.',
  },
  body_too_large: {
    status: 413,
    message:
      'The body is larger than the {limit} bytes that this operation takes. Send less at once, or put it where it can be fetched and send its address.',
    when: 'The body is over the limit of the operation.',
  },
  results_full: {
    status: 413,
    message:
      'The results of this execution are full: all together they may have {limit} bytes, each counted as 1 KiB at least.',
    when: 'An execution has given as much in results as it can.',
  },
  address_too_long: {
    status: 414,
    message: 'The address is too long. Send long values in the body.',
    when: 'A path segment is longer than the service accepts.',
  },
  unsupported_content_type: {
    status: 415,
    message: 'This operation cannot take Content-Type {contentType}. It takes: {accepted}.',
    when: 'The body has a type that the operation cannot read.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request headers are larger than 16 KiB. Send fewer or shorter headers.',
    when: 'The headers are over the limit.',
  },
  too_many_requests: {
    status: 429,
    message: '{problem} Try again in {seconds} s.',
    when: 'The rate of the tier, a quota, or the number of failed logins is exceeded; Retry-After says how long to wait.',
  },
  internal: {
    status: 500,
    message: 'Something failed inside the service. Tell the operator the request id {requestId}.',
    when: 'A fault of the service itself; the log has the details under the request id.',
  },
  store_unavailable: {
    status: 503,
    message: 'The store cannot be reached, so nothing was accepted. Try again in a moment.',
    when: 'The database does not answer or cannot write.',
  },
  key_missing: {
    status: 503,
    message:
      '{what} is encrypted with the key {keyId}, which this service does not have. The operator puts that key into secrets_key or secrets_old_keys.',
    when: 'A secret was kept under another key than those that the operator has set.',
  },
  busy: {
    status: 503,
    message:
      'The service has more to do than it can now. Nothing was accepted. Try again in a moment.',
    when: 'Too many requests wait for the same scarce thing, such as the check of a password.',
  },
  shutting_down: {
    status: 503,
    message: 'The service is stopping and accepts nothing new. Try again in a moment.',
    when: 'The process has been told to stop.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorRegistry;

type Placeholders<Template extends string> =
  Template extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never;

type Fill<Code extends ErrorCode> = Record<
  Placeholders<(typeof errorRegistry)[Code]['message']>,
  string | number
>;

/** `fail('x')` where the sentence has no blanks, `fail('x', {…})` where it has: the compiler knows which. */
type FillArguments<Code extends ErrorCode> = [keyof Fill<Code>] extends [never]
  ? []
  : [fill: Fill<Code>];

/** An error that is meant for the caller: it has a sentence and an HTTP status, and no stack trace leaves the service. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  /** Extra response headers that belong to the error, such as Allow or Retry-After. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.status = errorRegistry[code].status;
    this.headers = headers;
  }

  withHeaders(headers: Readonly<Record<string, string>>): ServiceError {
    return new ServiceError(this.code, this.message, { ...this.headers, ...headers });
  }
}

/** Makes the registry's error with its blanks filled in; the caller throws it. */
export function fail<Code extends ErrorCode>(
  code: Code,
  ...[fill]: FillArguments<Code>
): ServiceError {
  const values: Readonly<Record<string, string | number>> = fill ?? {};
  const message = errorRegistry[code].message.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(values[name] ?? ''),
  );
  return new ServiceError(code, message);
}
