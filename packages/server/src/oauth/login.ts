import { ServiceError } from '../errors.ts';
import type { Credentials } from '../identity/credentials.ts';
import type { Sessions } from '../identity/sessions.ts';
import type { User } from '../identity/user.ts';
import type { AuthorizationRequests, WaitingRequest } from './authorization-requests.ts';
import { page, seeOther } from './page-answers.ts';
import { formWaiting, type PageForms } from './page-forms.ts';
import {
  formField,
  type PageRoute,
  type PageVisit,
  queryField,
  type VisitAnswer,
} from './page-visit.ts';
import { type LoginPurpose, loginPage, tooManyAttempts, wrongCredentials } from './pages/login.ts';
import { loggedOutPage } from './pages/notice.ts';
import { goneRequestPage, outdatedFormPage, Refusal } from './problem-pages.ts';
import { csrfFor, isLoggedIn, type Visitor, type Visitors } from './visitors.ts';
import { loginPathOf, pathOf, readWaiting, type Waiting, waitingWord } from './waiting.ts';

export interface LoginParts {
  readonly visitors: Visitors;
  readonly forms: PageForms;
  readonly sessions: Pick<Sessions, 'open' | 'logIn' | 'end'>;
  readonly credentials: Pick<Credentials, 'check'>;
  readonly requests: AuthorizationRequests;
}

export function loginRoutes(parts: LoginParts): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/login',
      summary: 'The login page',
      description: 'A page for people. Who is logged in goes on to what waits.',
      answer: (visit) => showLogin(parts, visit),
    },
    {
      method: 'POST',
      path: '/login',
      summary: 'Log in',
      description: 'The form of the login page. The session gets a new cookie.',
      answer: (visit) => logIn(parts, visit),
    },
    {
      method: 'GET',
      path: '/logout',
      summary: 'The page after logging out',
      description: 'A page for people. It logs nobody out by itself.',
      answer: (visit) => showLoggedOut(parts, visit),
    },
    {
      method: 'POST',
      path: '/logout',
      summary: 'Log out',
      description: 'A form of several pages. With a request, another person can log in for it.',
      answer: (visit) => logOut(parts, visit),
    },
  ];
}

async function showLogin(parts: LoginParts, visit: PageVisit): Promise<VisitAnswer> {
  const waiting = readWaiting(queryField(visit, 'request') ?? '');
  if (waiting === undefined) return goneRequestPage();
  const visitor = await parts.visitors.findOrOpen(visit.cookie);
  if (isLoggedIn(visitor)) return seeOther(pathOf(waiting));
  const request = await waitingRequest(parts, visitor, waiting);
  return { ...loginForm({ visitor, waiting, request }), cookie: visitor.cookie };
}

async function logIn(parts: LoginParts, visit: PageVisit): Promise<VisitAnswer> {
  const waiting = formWaiting(visit);
  const visitor = await admitLogin(parts, visit, waiting);
  if (isLoggedIn(visitor)) return seeOther(pathOf(waiting));
  const request = await waitingRequest(parts, visitor, waiting);
  const username = formField(visit, 'username') ?? '';
  const form = { visitor, waiting, request, username };
  let user: User | undefined;
  try {
    const password = formField(visit, 'password') ?? '';
    user = await parts.credentials.check(username, password, visit.address);
  } catch (error) {
    return heldUp(error, form);
  }
  const opened = user && (await parts.sessions.logIn(visitor.session, user.id));
  if (user === undefined || opened === undefined)
    return loginForm({ ...form, error: wrongCredentials, status: 403 });
  visit.log.info({ event: 'logged_in', user: user.id, from: visit.address }, 'logged in');
  return { ...seeOther(pathOf(waiting)), cookie: opened.cookie };
}

/**
 * A login form whose session has been logged in meanwhile, in another tab, has an outdated token and needs none:
 * its person only goes on to the page that comes next.
 */
async function admitLogin(
  { forms, visitors }: LoginParts,
  visit: PageVisit,
  waiting: Waiting,
): Promise<Visitor> {
  forms.refuseForeign(visit);
  const visitor = await visitors.find(visit.cookie);
  const admitted =
    visitor !== undefined && (isLoggedIn(visitor) || forms.isCurrent(visit, visitor, waiting));
  if (!admitted) throw new Refusal(outdatedFormPage(waiting));
  return visitor;
}

async function waitingRequest(
  { requests }: LoginParts,
  visitor: Visitor,
  waiting: Waiting,
): Promise<WaitingRequest | undefined> {
  if (waiting.kind !== 'application') return undefined;
  const request = await requests.find(waiting.id, visitor.session);
  if (request === undefined) throw new Refusal(goneRequestPage());
  return request;
}

interface LoginForm {
  readonly visitor: Visitor;
  readonly waiting: Waiting;
  readonly request: WaitingRequest | undefined;
  readonly username?: string;
  readonly error?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function loginForm({ visitor, waiting, request, ...shown }: LoginForm): VisitAnswer {
  const word = waitingWord(waiting);
  const body = loginPage({
    action: '/login',
    csrf: csrfFor(visitor, word),
    requestId: word === '' ? null : word,
    purpose: purposeOf(waiting, request),
    username: shown.username ?? '',
    error: shown.error ?? null,
  });
  const { status = 200, headers = {} } = shown;
  return page(body, { status, headers, redirectUri: request?.redirectUri });
}

function purposeOf(waiting: Waiting, request: WaitingRequest | undefined): LoginPurpose {
  if (request !== undefined) {
    const { name, ownerUsername } = request.client;
    return { kind: 'application', name, owner: ownerUsername };
  }
  return { kind: waiting.kind === 'device' ? 'device' : 'account' };
}

/** Too many attempts, or more passwords to check than the service can now: the form stays, and says how long to wait. */
function heldUp(error: unknown, form: LoginForm): VisitAnswer {
  if (!(error instanceof ServiceError)) throw error;
  const { status, headers } = error;
  if (error.code === 'too_many_requests') {
    const seconds = Number(headers['retry-after'] ?? 1);
    return loginForm({ ...form, status, headers, error: tooManyAttempts(seconds) });
  }
  if (error.code === 'busy')
    return loginForm({
      ...form,
      status,
      headers: { 'retry-after': '1', ...headers },
      error: 'The service is busy. Try again in a moment.',
    });
  throw error;
}

async function showLoggedOut(parts: LoginParts, visit: PageVisit): Promise<VisitAnswer> {
  const visitor = await parts.visitors.findLoggedIn(visit.cookie);
  if (visitor !== undefined) return seeOther(pathOf({ kind: 'account' }));
  return page(loggedOutPage({ loginPath: '/login' }));
}

/** What waited in the session goes on waiting in a new one, for whoever logs in next in this browser. */
async function logOut(parts: LoginParts, visit: PageVisit): Promise<VisitAnswer> {
  const waiting = formWaiting(visit);
  const { session, user } = await parts.forms.admit(visit, waiting);
  visit.log.info({ event: 'logged_out', user: user?.id }, 'logged out');
  if (waiting.kind === 'account') {
    await parts.sessions.end(session);
    return { ...seeOther('/logout'), cookie: null };
  }
  const opened = await parts.sessions.open();
  await parts.requests.move(session, opened.session);
  await parts.sessions.end(session);
  return { ...seeOther(loginPathOf(waiting)), cookie: opened.cookie };
}
