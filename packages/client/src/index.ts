export type { CallOptions } from './api.ts';
export type { PageOptions } from './areas/aliases.ts';
export type { AuditFilter } from './areas/audit.ts';
export type { DeadLetter } from './areas/dead-letters.ts';
export type { EventType, FollowEventOptions, ToldEvent } from './areas/events.ts';
export type { ExecutionListOptions, LogOptions, PostedBytes } from './areas/executions.ts';
export type {
  NewReactor,
  ReactorChanges,
  ReactorListOptions,
  ReadyOptions,
} from './areas/reactors.ts';
export type { Result, ResultOptions } from './areas/results.ts';
export type { Schedule } from './areas/schedules.ts';
export type { FoundLog, SearchTerms } from './areas/search.ts';
export type {
  AnsweredMessage,
  CloudEvent,
  Message,
  SendOptions,
  WaitOptions,
} from './areas/sending.ts';
export type { NewNonce, Target } from './areas/sharing.ts';
export type { KeptState } from './areas/states.ts';
export type { UserListOptions } from './areas/users.ts';
export { type ClientOptions, ReactordClient } from './client.ts';
export {
  ApiError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidReplyError,
  NotFoundError,
  OAuthError,
  ReactordError,
  ServerError,
  TimeoutError,
  TooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  UnprocessableError,
  UnsupportedTypeError,
} from './errors.ts';
/** The records of the API, from its description. */
export type * as Api from './generated/api.ts';
export type { RetryOptions } from './http/retries.ts';
export type { TransportOptions } from './http/transport.ts';
export type { Listing } from './listing.ts';
export type { FollowLogOptions, LogEnd, LogLine, LogStream } from './streams/log-stream.ts';
export { basic, bearer, type Credentials, nonce, type Presented } from './tokens/credentials.ts';
export type { DeviceCode } from './tokens/device.ts';
export { type DeviceOptions, type LoginOptions, OAuth, type OAuthOptions } from './tokens/oauth.ts';
export type { LoginRequest } from './tokens/redirects.ts';
export { memoryStore, type Token, type TokenStore } from './tokens/token.ts';
