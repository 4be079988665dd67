/** Everything that this package throws, but for the reason of an AbortSignal, which is passed on as it is. */
export class ReactordError extends Error {
  /** A word that programs can compare; the message is for people. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

export interface ErrorReply {
  readonly status: number;
  readonly message: string;
  /** As `verb path`, without the query, which may hold a nonce. */
  readonly request: string;
  /** What the service's log calls the request. */
  readonly requestId: string | undefined;
  /** In seconds, where the service says when to come back. */
  readonly retryAfter: number | undefined;
  /** The `result` of the envelope, where an error has one. */
  readonly result: unknown;
}

/** The service has answered, and said no. `status` is the HTTP status, `message` its sentence. */
export class ApiError extends ReactordError {
  readonly status: number;
  readonly request: string;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly result: unknown;

  constructor(code: string, reply: ErrorReply) {
    super(code, reply.message);
    this.status = reply.status;
    this.request = reply.request;
    this.requestId = reply.requestId;
    this.retryAfter = reply.retryAfter;
    this.result = reply.result;
  }
}

/** 400: a field has a value that it does not allow; the message names it. */
export class BadRequestError extends ApiError {}
/** 401: no token, or one that does not count any more. */
export class UnauthorizedError extends ApiError {}
/** 403: known, and not allowed. */
export class ForbiddenError extends ApiError {}
/** 404: not there, or not yours to know of. */
export class NotFoundError extends ApiError {}
/** 409: taken, not in the state for it, or changed by somebody else. */
export class ConflictError extends ApiError {}
/** 413: larger than the service takes. */
export class TooLargeError extends ApiError {}
/** 415: a content type that the operation does not take. */
export class UnsupportedTypeError extends ApiError {}
/** 422: an idempotency key that was used for something else. */
export class UnprocessableError extends ApiError {}
/** 429: over a rate or a quota; `retryAfter` says for how many seconds. */
export class TooManyRequestsError extends ApiError {}
/** 502, 503, 504: not now; nothing was accepted. */
export class UnavailableError extends ApiError {}
/** 500 and what else the service did not mean to answer. */
export class ServerError extends ApiError {}

/** The refusal of an OAuth endpoint. `code` is the `error` of the RFCs, such as `invalid_grant` or `access_denied`. */
export class OAuthError extends ReactordError {
  /** Undefined where the refusal came with a redirect. */
  readonly status: number | undefined;

  constructor(code: string, message: string, status?: number) {
    super(code, message);
    this.status = status;
  }
}

/** The service was not reached, or the connection broke. `cause` is what fetch said. */
export class ConnectionError extends ReactordError {
  constructor(message: string, cause: unknown) {
    super('connection', message, { cause });
  }
}

/** The time that was given has passed. */
export class TimeoutError extends ReactordError {
  constructor(message: string) {
    super('timeout', message);
  }
}

/** A reply that is not what the service sends: most often something else answers at the address. */
export class InvalidReplyError extends ReactordError {
  constructor(message: string) {
    super('invalid_reply', message);
  }
}

const kinds: Readonly<
  Record<number, readonly [code: string, kind: new (code: string, reply: ErrorReply) => ApiError]>
> = {
  400: ['bad_request', BadRequestError],
  401: ['unauthorized', UnauthorizedError],
  403: ['forbidden', ForbiddenError],
  404: ['not_found', NotFoundError],
  409: ['conflict', ConflictError],
  413: ['too_large', TooLargeError],
  415: ['unsupported_type', UnsupportedTypeError],
  422: ['unprocessable', UnprocessableError],
  429: ['too_many_requests', TooManyRequestsError],
  502: ['unavailable', UnavailableError],
  503: ['unavailable', UnavailableError],
  504: ['unavailable', UnavailableError],
};

export function apiError(reply: ErrorReply): ApiError {
  const [code, Kind] = kinds[reply.status] ?? other(reply.status);
  return new Kind(code, reply);
}

const other = (status: number) =>
  status >= 500 ? (['server_error', ServerError] as const) : (['refused', ApiError] as const);
