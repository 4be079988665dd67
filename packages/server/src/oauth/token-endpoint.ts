import OAuth2Server from '@node-oauth/oauth2-server';
import { ServiceError } from '../errors.ts';
import { ForeignKeyViolation, StoreError } from '../store/store-errors.ts';
import type { Client, ClientFlow } from './client.ts';
import type { GrantContext, GrantParts } from './grant-context.ts';
import { DeviceGrant, deviceGrantType } from './grant-device.ts';
import { GrantModel } from './grant-model.ts';
import { type TokenError, TokenRefusal, unknownClient } from './token-errors.ts';
import type { TokenForm } from './token-form.ts';
import type { IssuedTokens } from './tokens.ts';

/** The grant types of the flows that end at /token. */
const grantOfFlow: Readonly<Partial<Record<ClientFlow, string>>> = {
  authorization_code: 'authorization_code',
  password: 'password',
  client_credentials: 'client_credentials',
  device: deviceGrantType,
};

/** The grant types that the operator offers. */
export function offeredGrants(config: GrantParts['config']): readonly string[] {
  return [
    'authorization_code',
    ...(config.password_flow ? ['password'] : []),
    'client_credentials',
    'refresh_token',
    deviceGrantType,
  ];
}

/** Serves one request for a token through the grant library; the client has proved itself. */
export async function grantToken(
  parts: GrantParts,
  client: Client,
  form: TokenForm,
  address: string,
): Promise<IssuedTokens> {
  const context: GrantContext = { parts, client, form, address };
  const model = new GrantModel(context, grantsOf(parts, client));
  const library = new OAuth2Server({
    model,
    // Each access token's own lifetime is settled where it is issued; the library insists on some number.
    accessTokenLifetime: 1,
    refreshTokenLifetime: 1,
    alwaysIssueNewRefreshToken: false,
    extendedGrantTypes: { [deviceGrantType]: DeviceGrant },
  });
  try {
    await library.token(requestFor(form, client), new OAuth2Server.Response());
  } catch (error) {
    throw refusalOf(error);
  }
  if (model.issued === undefined) throw new Error('the library granted and issued nothing');
  return model.issued;
}

/** A refresh token is proof enough that its flow was allowed. */
function grantsOf({ config }: GrantParts, client: Client): string[] {
  const grants = ['refresh_token'];
  for (const flow of client.flows) {
    const grant = grantOfFlow[flow];
    if (grant !== undefined && (flow !== 'password' || config.password_flow)) grants.push(grant);
  }
  return grants;
}

/** The library sees the parameters, and of the client only what it insists on. */
function requestFor(form: TokenForm, client: Client): OAuth2Server.Request {
  const body: Record<string, string> = { client_id: client.key, client_secret: 'proved' };
  for (const [name, value] of form) body[name] ??= value;
  return new FormRequest({ method: 'POST', query: {}, headers: {}, body });
}

/** Its type was looked at when the form was read. */
class FormRequest extends OAuth2Server.Request {
  override is(): string {
    return 'application/x-www-form-urlencoded';
  }
}

const errorsOfTheLibrary = [
  'invalid_request',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
] as const satisfies readonly TokenError[];

/** The library wraps what it does not know; what we threw ourselves is taken out again. */
function refusalOf(error: unknown): unknown {
  const inner = error instanceof Error && 'inner' in error ? error.inner : error;
  if (inner instanceof TokenRefusal || inner instanceof ServiceError) return inner;
  // The client was deleted while it asked.
  if (inner instanceof ForeignKeyViolation) return unknownClient();
  if (inner instanceof StoreError) return inner;
  if (!(error instanceof OAuth2Server.OAuthError)) return inner;
  const known = errorsOfTheLibrary.find((name) => name === error.name);
  return known === undefined ? inner : new TokenRefusal(known, sentence(error.message));
}

/** `Missing parameter: \`code\`` → `Missing parameter: code.` */
const sentence = (message: string): string => `${message.replaceAll('`', '')}.`;
