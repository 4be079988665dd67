import type { ConnectedApplications } from './applications.ts';
import { page, seeOther } from './page-answers.ts';
import type { PageForms } from './page-forms.ts';
import {
  formField,
  type PageRoute,
  type PageVisit,
  queryField,
  type VisitAnswer,
} from './page-visit.ts';
import { applicationsPage } from './pages/applications.ts';
import { csrfFor, type Visitors } from './visitors.ts';
import { loginPathOf, type Waiting, waitingWord } from './waiting.ts';

export interface ApplicationsParts {
  readonly visitors: Visitors;
  readonly forms: PageForms;
  readonly applications: ConnectedApplications;
}

const account: Waiting = { kind: 'account' };

export function applicationsRoutes(parts: ApplicationsParts): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/account/applications',
      summary: 'The page of connected applications',
      description: 'A page for people: which applications can use their account, since when.',
      answer: (visit) => showApplications(parts, visit),
    },
    {
      method: 'POST',
      path: '/account/applications/revoke',
      summary: 'Take back the access of an application',
      description: 'The form of the page before. Ends every token of that application at once.',
      answer: (visit) => revoke(parts, visit),
    },
  ];
}

async function showApplications(parts: ApplicationsParts, visit: PageVisit): Promise<VisitAnswer> {
  const visitor = await parts.visitors.findLoggedIn(visit.cookie);
  if (visitor === undefined) return seeOther(loginPathOf(account));
  const applications = await parts.applications.ofUser(visitor.user.id);
  const body = applicationsPage({
    revokeAction: '/account/applications/revoke',
    logoutAction: '/logout',
    csrf: csrfFor(visitor, waitingWord(account)),
    username: visitor.user.username,
    applications: applications.map(({ clientId, since, lastUsedAt, ...shown }) => ({
      ...shown,
      consentId: clientId,
      since: new Date(since),
      lastUsed: new Date(lastUsedAt),
    })),
    notice: queryField(visit, 'done') === 'revoked' ? 'Access was revoked.' : null,
  });
  return page(body);
}

async function revoke(parts: ApplicationsParts, visit: PageVisit): Promise<VisitAnswer> {
  const { user } = await parts.forms.admitLoggedIn(visit, account);
  const client = formField(visit, 'consent') ?? '';
  await parts.applications.revoke(user.id, client);
  visit.log.info({ event: 'access_revoked', user: user.id, client }, 'access revoked');
  return seeOther('/account/applications?done=revoked');
}
