import { destinationOf } from './destination.ts';
import { shownName } from './reveal.ts';
import { type OwnPath, render, Verbatim } from './templates.ts';

interface ConnectedApplication {
  /** Which consent the Revoke button takes back. */
  readonly consentId: string;
  readonly name: string;
  readonly owner: string;
  /** Null for a device, which nothing is sent back to. */
  readonly redirectUri: string | null;
  readonly since: Date;
  readonly lastUsed: Date | null;
}

export interface ApplicationsPage {
  readonly revokeAction: OwnPath;
  readonly logoutAction: OwnPath;
  readonly csrf: string;
  readonly username: string;
  readonly applications: readonly ConnectedApplication[];
  /** What just happened, for example "Access was revoked." */
  readonly notice: string | null;
}

export function applicationsPage(page: ApplicationsPage): string {
  return render('applications', {
    revokeAction: page.revokeAction,
    logoutAction: page.logoutAction,
    csrf: new Verbatim(page.csrf),
    requestId: null,
    username: shownName(page.username),
    applications: page.applications.map((application) => ({
      consentId: new Verbatim(application.consentId),
      name: shownName(application.name),
      owner: shownName(application.owner),
      destination: application.redirectUri === null ? null : destinationOf(application.redirectUri),
      since: momentOf(application.since, day),
      lastUsed: application.lastUsed === null ? null : momentOf(application.lastUsed, minute),
    })),
    notice: page.notice,
  });
}

// Without a script the page cannot know the reader's time zone, so it says which one it means.
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const minute = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
  timeZoneName: 'short',
});

function momentOf(date: Date, format: Intl.DateTimeFormat) {
  return { machine: date.toISOString(), words: format.format(date) };
}
