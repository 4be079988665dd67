import type { Config } from '../config.ts';
import { SettingError } from '../config-sources.ts';
import { offeredGrants } from './token-endpoint.ts';
import { onlyScope } from './token-scope.ts';

type OfferSettings = Pick<Config, 'implicit_flow' | 'password_flow' | 'require_pkce'>;

/** What a client can find out about the service by itself (RFC 8414). */
export function serverMetadata(config: OfferSettings, issuer: string) {
  const clientProofs = ['client_secret_basic', 'client_secret_post'];
  const orNone = [...clientProofs, 'none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    introspection_endpoint: `${issuer}/introspect`,
    device_authorization_endpoint: `${issuer}/device_authorization`,
    scopes_supported: [onlyScope],
    response_types_supported: ['code', ...(config.implicit_flow ? ['token'] : [])],
    response_modes_supported: ['query', ...(config.implicit_flow ? ['fragment'] : [])],
    grant_types_supported: [
      ...offeredGrants(config),
      ...(config.implicit_flow ? ['implicit'] : []),
    ],
    token_endpoint_auth_methods_supported: orNone,
    revocation_endpoint_auth_methods_supported: orNone,
    introspection_endpoint_auth_methods_supported: clientProofs,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}

const thisMachine = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i;

/** The issuer is what everyone trusts: over http it must not leave this machine, unless the operator says so. */
export function checkIssuer(config: Pick<Config, 'base_url' | 'allow_http'>): void {
  if (config.base_url === undefined || config.allow_http) return;
  const { protocol, hostname } = new URL(config.base_url);
  if (protocol === 'https:' || thisMachine.test(hostname)) return;
  throw new SettingError(
    'base_url is http on a host that is not this machine, so passwords and tokens would travel in clear. ' +
      'Set it to the https address of the proxy in front of the service, or set allow_http to true.',
  );
}
