import { Type } from 'typebox';
import { type AuthorizationRequest, flowOf } from './authorization-request.ts';
import type { AuthorizationRequests } from './authorization-requests.ts';
import {
  type AuthorizeSettings,
  checkRequest,
  findClient,
  RefusedRequest,
  readRedirectUri,
  readTarget,
  UntrustedRequest,
} from './authorize-checks.ts';
import { approvedAddress, failedAddress, type OutcomeParts } from './authorize-outcome.ts';
import { type Parameters, readParameters } from './authorize-parameters.ts';
import type { Client } from './client.ts';
import type { Clients } from './clients.ts';
import type { Consents } from './consents.ts';
import { found } from './page-answers.ts';
import type { PageRoute, PageVisit, VisitAnswer } from './page-visit.ts';
import { untrustedPage } from './problem-pages.ts';
import { type AnswerTarget, errorAddress } from './redirect-answer.ts';
import { isLoggedIn, type KnownVisitor, type Visitors } from './visitors.ts';
import { loginPathOf, pathOf } from './waiting.ts';

export interface AuthorizeParts extends OutcomeParts {
  readonly settings: AuthorizeSettings;
  readonly clients: Pick<Clients, 'byKey'>;
  readonly visitors: Visitors;
  readonly requests: AuthorizationRequests;
  readonly consents: Consents;
}

export function authorizeRoute(parts: AuthorizeParts): PageRoute {
  return {
    method: 'GET',
    path: '/authorize',
    summary: 'Ask a user for access',
    description:
      'Send the user’s browser here. After login and approval it returns to `redirect_uri` with a `code` ' +
      '(response_type=code, in the query) or an `access_token` (response_type=token, in the fragment), or with an ' +
      '`error`. A request whose client or redirect_uri is wrong is answered by a page and never redirected.',
    parameters: AuthorizeQuery,
    answer: (visit) => authorize(parts, visit),
  };
}

const AuthorizeQuery = Type.Object(
  {
    response_type: Type.Enum(['code', 'token'], {
      description: 'code: the authorization code flow. token: the implicit flow.',
    }),
    client_id: Type.String({ description: 'The key of the client.' }),
    redirect_uri: Type.String({ description: 'One of the client’s callback URLs, exactly.' }),
    scope: Type.Optional(
      Type.Enum(['PRODUCTION'], { description: 'Required with response_type=token.' }),
    ),
    state: Type.Optional(Type.String({ description: 'Comes back as it was sent.' })),
    show_dialog: Type.Optional(
      Type.Boolean({ default: false, description: 'true: ask again, even if approved before.' }),
    ),
    code_challenge: Type.Optional(Type.String({ description: 'PKCE (RFC 7636).' })),
    code_challenge_method: Type.Optional(
      Type.Enum(['S256'], { description: 'How the challenge was made.' }),
    ),
  },
  { title: 'AuthorizeQuery' },
);

/** Who asks and where the answer goes; then what is asked; then whether the person has to be asked. */
async function authorize(parts: AuthorizeParts, visit: PageVisit): Promise<VisitAnswer> {
  const parameters = readParameters(visit.query);
  let client: Client;
  let target: AnswerTarget;
  try {
    client = await findClient(parameters, (key) => parts.clients.byKey(key));
    target = readTarget(parameters, readRedirectUri(parameters, client));
  } catch (error) {
    if (error instanceof UntrustedRequest) return untrustedPage(error.message);
    throw error;
  }
  return await answerTo(target, parts, visit, () =>
    decide(parts, visit, parameters, client, target),
  );
}

/** From here on every failure is an answer to the client. */
async function answerTo(
  target: AnswerTarget,
  { issuer }: AuthorizeParts,
  visit: PageVisit,
  work: () => Promise<VisitAnswer>,
): Promise<VisitAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedRequest)
      return found(errorAddress(target, issuer(), error.code, error.message));
    visit.log.error({ err: error }, 'an authorization request failed');
    return found(failedAddress(target, issuer(), error));
  }
}

async function decide(
  parts: AuthorizeParts,
  visit: PageVisit,
  parameters: Parameters,
  client: Client,
  target: AnswerTarget,
): Promise<VisitAnswer> {
  const request = checkRequest(parameters, client, target, parts.settings);
  const visitor = await parts.visitors.findOrOpen(visit.cookie);
  if (isLoggedIn(visitor)) {
    const address = await approvedBefore(parts, visit, request, visitor);
    if (address !== undefined) return found(address);
  }
  const id = await parts.requests.keep(visitor.session, request);
  const waiting = { kind: 'application', id } as const;
  const next = isLoggedIn(visitor) ? pathOf(waiting) : loginPathOf(waiting);
  return { ...found(next), cookie: visitor.cookie };
}

/** The address with the answer, when this person has approved just this before. */
export async function approvedBefore(
  parts: OutcomeParts & Pick<AuthorizeParts, 'consents'>,
  visit: PageVisit,
  request: AuthorizationRequest,
  { user }: KnownVisitor,
): Promise<string | undefined> {
  if (!(await parts.consents.covers(user.id, request))) return undefined;
  await parts.consents.used(user.id, request);
  const address = await approvedAddress(parts, request, user.id);
  const facts = { user: user.id, client: request.client.id, flow: flowOf[request.responseType] };
  visit.log.info({ event: 'consent_remembered', ...facts }, 'approved before');
  return address;
}
