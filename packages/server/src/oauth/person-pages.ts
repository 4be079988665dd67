import type { Config } from '../config.ts';
import type { Identity } from '../identity/identity.ts';
import type { Store } from '../store/store.ts';
import { ConnectedApplications } from './applications.ts';
import { applicationsRoutes } from './applications-pages.ts';
import { AuthorizationRequests } from './authorization-requests.ts';
import { authorizeRoute } from './authorize.ts';
import { consentRoutes } from './consent.ts';
import { Consents } from './consents.ts';
import { deviceRoutes } from './device-pages.ts';
import { loginRoutes } from './login.ts';
import type { OAuth } from './oauth.ts';
import { PageForms } from './page-forms.ts';
import type { PageRoute } from './page-visit.ts';
import { Visitors } from './visitors.ts';

interface Parts {
  readonly store: Store;
  readonly config: Config;
  readonly identity: Identity;
  readonly oauth: OAuth;
  readonly baseUrl: () => string;
}

/** Everything that a person meets in a browser: the way from an application to its access, and back. */
export function personPages({ store, config, identity, oauth, baseUrl }: Parts): PageRoute[] {
  const { users, sessions, credentials, changes } = identity;
  const { clients, tokens, codes, deviceCodes, authorizations } = oauth;
  const visitors = new Visitors(sessions, users);
  const parts = {
    settings: config,
    issuer: baseUrl,
    clients,
    tokens,
    sessions,
    credentials,
    visitors,
    forms: new PageForms(visitors, baseUrl),
    codes,
    devices: deviceCodes,
    requests: new AuthorizationRequests(store, clients),
    consents: new Consents(store),
    applications: new ConnectedApplications(store, changes, authorizations),
  };
  return [
    authorizeRoute(parts),
    ...loginRoutes(parts),
    ...consentRoutes(parts),
    ...deviceRoutes(parts),
    ...applicationsRoutes(parts),
  ];
}
