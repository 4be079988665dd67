import type { Config } from '../config.ts';
import { type AuthorizationRequest, flowOf } from './authorization-request.ts';
import { eachOnceAndReadable, type Parameters, textOf } from './authorize-parameters.ts';
import type { Client } from './client.ts';
import type { AnswerTarget, AuthorizationErrorCode } from './redirect-answer.ts';
import { onlyScope, readScope } from './token-scope.ts';

export type AuthorizeSettings = Pick<Config, 'implicit_flow' | 'require_pkce'>;

/** A request that cannot be answered by a redirect: its client or its address is not to be trusted. */
export class UntrustedRequest extends Error {}

/** A request that the client hears was refused. The description is ours alone: nothing of the request is in it. */
export class RefusedRequest extends Error {
  readonly code: AuthorizationErrorCode;

  constructor(code: AuthorizationErrorCode, description: string) {
    super(description);
    this.code = code;
  }
}

/** The first check, before any other and before any login: who asks. */
export async function findClient(
  parameters: Parameters,
  byKey: (key: string) => Promise<Client | undefined>,
): Promise<Client> {
  const { client_id } = parameters;
  if (client_id.kind === 'repeated')
    throw new UntrustedRequest('It names its application more than once.');
  const key = textOf(client_id);
  const client = key === undefined ? undefined : await byKey(key);
  if (client === undefined)
    throw new UntrustedRequest(
      key === undefined
        ? 'It does not say which application it comes from.'
        : 'The application it comes from is not registered here.',
    );
  return client;
}

/** The second: where the answer goes. It must be one of the registered addresses, byte for byte. */
export function readRedirectUri(parameters: Parameters, client: Client): string {
  const { redirect_uri } = parameters;
  if (redirect_uri.kind === 'repeated')
    throw new UntrustedRequest('It names the address to return to more than once.');
  const given = textOf(redirect_uri);
  if (given === undefined)
    throw new UntrustedRequest('It does not say which address to return to.');
  if (!client.callbackUrls.includes(given))
    throw new UntrustedRequest(
      'The address it wants to return to is not registered for its application.',
    );
  return given;
}

/** What is known early of where errors go, so that they come back with the state and in the right place. */
export function readTarget(parameters: Parameters, redirectUri: string): AnswerTarget {
  return {
    redirectUri,
    responseType: responseTypes.find((known) => known === textOf(parameters.response_type)),
    state: isEchoable(parameters) ? textOf(parameters.state) : undefined,
  };
}

/** All other checks, in order; a failed one throws the RefusedRequest that the client gets. */
export function checkRequest(
  parameters: Parameters,
  client: Client,
  target: AnswerTarget,
  settings: AuthorizeSettings,
): AuthorizationRequest {
  refuseRepeatedOrUnreadable(parameters);
  refuseLongState(parameters);
  const responseType = readResponseType(parameters);
  refuseClosedFlow(responseType, client, settings);
  const scope = readRequestedScope(parameters, responseType);
  const showDialog = readShowDialog(parameters);
  const codeChallenge = responseType === 'code' ? readChallenge(parameters) : null;
  refuseMissingPkce(responseType, codeChallenge, client, settings);
  return { ...target, client, responseType, scope, showDialog, codeChallenge };
}

const responseTypes = ['code', 'token'] as const;
type ResponseType = (typeof responseTypes)[number];

function refuseRepeatedOrUnreadable(parameters: Parameters): void {
  if (eachOnceAndReadable(parameters)) return;
  throw new RefusedRequest(
    'invalid_request',
    'A parameter is repeated, has broken percent-encoding or is not UTF-8.',
  );
}

/** As it stands in the answer's address; browsers and proxies do not take addresses of any length. */
const longestState = 4096;

function isEchoable(parameters: Parameters): boolean {
  return encodeURIComponent(textOf(parameters.state) ?? '').length <= longestState;
}

function refuseLongState(parameters: Parameters): void {
  if (isEchoable(parameters)) return;
  throw new RefusedRequest('invalid_request', `state is longer than ${longestState} bytes.`);
}

function readResponseType(parameters: Parameters): ResponseType {
  const given = textOf(parameters.response_type);
  if (given === undefined) throw new RefusedRequest('invalid_request', 'response_type is missing.');
  const known = responseTypes.find((type) => type === given);
  if (known !== undefined) return known;
  throw new RefusedRequest('unsupported_response_type', 'response_type takes code or token.');
}

function refuseClosedFlow(type: ResponseType, client: Client, settings: AuthorizeSettings): void {
  const offered = type === 'code' || settings.implicit_flow;
  if (offered && client.flows.has(flowOf[type])) return;
  throw new RefusedRequest(
    'unauthorized_client',
    'This flow is not open to this application. Its owner or the operator can allow it.',
  );
}

function readRequestedScope(parameters: Parameters, type: ResponseType): string {
  const given = textOf(parameters.scope);
  if (given === undefined && type === 'code') return onlyScope;
  const scope = given === undefined ? undefined : readScope(given.split(' '));
  if (scope !== undefined) return scope;
  throw new RefusedRequest(
    'invalid_scope',
    given === undefined ? 'scope is missing. It takes PRODUCTION.' : 'scope takes PRODUCTION only.',
  );
}

function readShowDialog(parameters: Parameters): boolean {
  const given = textOf(parameters.show_dialog) ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new RefusedRequest('invalid_request', 'show_dialog takes true or false.');
}

/** Without a method RFC 7636 means `plain`, which protects from nothing that matters and is not taken. */
function readChallenge(parameters: Parameters): string | null {
  const challenge = textOf(parameters.code_challenge);
  const method = textOf(parameters.code_challenge_method);
  if (challenge === undefined && method === undefined) return null;
  if (challenge === undefined)
    throw new RefusedRequest('invalid_request', 'code_challenge is missing.');
  if (method !== 'S256')
    throw new RefusedRequest('invalid_request', 'code_challenge_method takes S256 only.');
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(challenge))
    throw new RefusedRequest(
      'invalid_request',
      'code_challenge takes 43 to 128 letters, digits, hyphens, dots, underscores or tildes.',
    );
  return challenge;
}

function refuseMissingPkce(
  type: ResponseType,
  challenge: string | null,
  client: Client,
  settings: AuthorizeSettings,
): void {
  const needed = type === 'code' && (settings.require_pkce || client.requirePkce);
  if (!needed || challenge !== null) return;
  throw new RefusedRequest('invalid_request', 'This application has to use PKCE with S256.');
}
