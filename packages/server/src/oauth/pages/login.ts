import { durationInWords } from './duration.ts';
import { shownName } from './reveal.ts';
import { type OwnPath, render, Verbatim } from './templates.ts';

/** Why somebody sees the login form: for an application, for a device, or for the own account. */
export type LoginPurpose =
  | { readonly kind: 'application'; readonly name: string; readonly owner: string }
  | { readonly kind: 'device' }
  | { readonly kind: 'account' };

export interface LoginPage {
  readonly action: OwnPath;
  readonly csrf: string;
  /** The authorization request that waits for this login. */
  readonly requestId: string | null;
  readonly purpose: LoginPurpose;
  /** What was typed before, kept after a failure. */
  readonly username: string;
  readonly error: string | null;
}

export const wrongCredentials = 'Wrong username or password.';

export function tooManyAttempts(seconds: number): string {
  return `Too many attempts. Try again in ${durationInWords(seconds)}.`;
}

export function loginPage(page: LoginPage): string {
  const { purpose } = page;
  return render('login', {
    action: page.action,
    csrf: new Verbatim(page.csrf),
    requestId: page.requestId === null ? null : new Verbatim(page.requestId),
    application:
      purpose.kind === 'application'
        ? { name: shownName(purpose.name), owner: shownName(purpose.owner) }
        : null,
    forDevice: purpose.kind === 'device',
    username: new Verbatim(page.username),
    usernameKnown: page.username !== '',
    error: page.error,
  });
}
