import { flowOf } from './authorization-request.ts';
import type { AuthorizationRequests, WaitingRequest } from './authorization-requests.ts';
import { approvedBefore } from './authorize.ts';
import {
  approvedAddress,
  deniedAddress,
  failedAddress,
  type OutcomeParts,
} from './authorize-outcome.ts';
import { type Consents, forgetConsent, rememberConsent } from './consents.ts';
import { found, page, seeOther } from './page-answers.ts';
import { formWaiting, type PageForms } from './page-forms.ts';
import {
  formField,
  type PageRoute,
  type PageVisit,
  queryField,
  type VisitAnswer,
} from './page-visit.ts';
import { consentPage } from './pages/consent.ts';
import { goneRequestPage, outdatedFormPage, Refusal } from './problem-pages.ts';
import { accessTokenSeconds, type LifetimeSettings } from './token-lifetimes.ts';
import { csrfFor, isLoggedIn, type KnownVisitor, type Visitor, type Visitors } from './visitors.ts';
import { loginPathOf, readWaiting, type Waiting } from './waiting.ts';

export interface ConsentParts extends OutcomeParts {
  readonly settings: LifetimeSettings;
  readonly visitors: Visitors;
  readonly forms: PageForms;
  readonly requests: AuthorizationRequests;
  readonly consents: Consents;
}

export function consentRoutes(parts: ConsentParts): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/consent',
      summary: 'The page on which a person approves or denies',
      description: 'A page for people. It shows who asks, for what, and where the answer goes.',
      answer: (visit) => showConsent(parts, visit),
    },
    {
      method: 'POST',
      path: '/consent',
      summary: 'Approve or deny',
      description: 'The form of the consent page. It leads to the redirect_uri of the request.',
      answer: (visit) => decide(parts, visit),
    },
  ];
}

async function showConsent(parts: ConsentParts, visit: PageVisit): Promise<VisitAnswer> {
  const waiting = readWaiting(queryField(visit, 'request'));
  const visitor = await parts.visitors.find(visit.cookie);
  const request = await openRequest(parts, visitor, waiting);
  if (visitor === undefined || !isLoggedIn(visitor))
    return seeOther(loginPathOf({ kind: 'application', id: request.id }));
  const address = await approvedBefore(parts, visit, request, visitor);
  if (address === undefined) return consentForm(parts, visitor, request);
  await parts.requests.take(request.id, visitor.session);
  return found(address);
}

async function decide(parts: ConsentParts, visit: PageVisit): Promise<VisitAnswer> {
  const waiting = formWaiting(visit);
  const visitor = await parts.forms.admitLoggedIn(visit, waiting);
  const request = await openRequest(parts, visitor, waiting);
  switch (formField(visit, 'decision')) {
    case 'approve':
      return await approve(parts, visit, visitor, request);
    case 'deny':
      return await deny(parts, visit, visitor, request);
    default:
      // A form without its buttons' value was not sent by a person.
      return outdatedFormPage(waiting);
  }
}

async function approve(
  parts: ConsentParts,
  visit: PageVisit,
  { session, user }: KnownVisitor,
  request: WaitingRequest,
): Promise<VisitAnswer> {
  const remember = rememberConsent(user.id, request);
  if (!(await parts.requests.take(request.id, session, remember))) return goneRequestPage();
  note(visit, 'consent_given', user.id, request);
  try {
    return seeOther(await approvedAddress(parts, request, user.id));
  } catch (error) {
    visit.log.error({ err: error }, 'an approved request failed');
    return seeOther(failedAddress(request, parts.issuer(), error));
  }
}

async function deny(
  parts: ConsentParts,
  visit: PageVisit,
  { session, user }: KnownVisitor,
  request: WaitingRequest,
): Promise<VisitAnswer> {
  const forget = forgetConsent(user.id, request);
  if (!(await parts.requests.take(request.id, session, forget))) return goneRequestPage();
  note(visit, 'consent_denied', user.id, request);
  return seeOther(deniedAddress(request, parts.issuer()));
}

function note(visit: PageVisit, event: string, user: string, request: WaitingRequest): void {
  const facts = { event, user, client: request.client.id, flow: flowOf[request.responseType] };
  visit.log.info(facts, 'consent');
}

async function openRequest(
  { requests }: ConsentParts,
  visitor: Visitor | undefined,
  waiting: Waiting | undefined,
): Promise<WaitingRequest> {
  const request =
    visitor !== undefined && waiting?.kind === 'application'
      ? await requests.find(waiting.id, visitor.session)
      : undefined;
  if (request === undefined) throw new Refusal(goneRequestPage());
  return request;
}

function consentForm(
  { settings }: ConsentParts,
  visitor: KnownVisitor,
  request: WaitingRequest,
): VisitAnswer {
  const { client, redirectUri } = request;
  const flow = flowOf[request.responseType];
  const body = consentPage({
    action: '/consent',
    switchAction: '/logout',
    csrf: csrfFor(visitor, request.id),
    requestId: request.id,
    application: {
      name: client.name,
      owner: client.ownerUsername,
      description: client.description === '' ? null : client.description,
    },
    redirectUri,
    access: {
      scopes: ['PRODUCTION'],
      lifetimeSeconds: accessTokenSeconds(settings, flow),
      renewable: flow === 'authorization_code',
    },
    username: visitor.user.username,
  });
  return page(body, { redirectUri });
}
