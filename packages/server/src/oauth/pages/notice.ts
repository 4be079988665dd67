import { type OwnPath, render } from './templates.ts';

export interface NoticePage {
  readonly title: string;
  readonly message: string;
  readonly link: { readonly href: OwnPath; readonly text: string } | null;
}

export function noticePage(page: NoticePage): string {
  return render('notice', { title: page.title, message: page.message, link: page.link });
}

export function loggedOutPage(page: { readonly loginPath: OwnPath }): string {
  return noticePage({
    title: 'Logged out',
    message: 'You are logged out. Applications you have approved keep their access.',
    link: { href: page.loginPath, text: 'Log in again' },
  });
}
