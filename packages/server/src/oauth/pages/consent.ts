import { type Access, type Application, accessView, applicationView } from './application.ts';
import { destinationOf } from './destination.ts';
import { shownName } from './reveal.ts';
import { type OwnPath, render, Verbatim } from './templates.ts';

export interface ConsentPage {
  readonly action: OwnPath;
  /** Logs out and asks for another login for the same request. */
  readonly switchAction: OwnPath;
  readonly csrf: string;
  readonly requestId: string;
  readonly application: Application;
  readonly redirectUri: string;
  readonly access: Access;
  /** Who is logged in. */
  readonly username: string;
}

export function consentPage(page: ConsentPage): string {
  return render('consent', {
    action: page.action,
    switchAction: page.switchAction,
    csrf: new Verbatim(page.csrf),
    requestId: new Verbatim(page.requestId),
    application: applicationView(page.application),
    destination: destinationOf(page.redirectUri),
    access: accessView(page.access),
    username: shownName(page.username),
  });
}
