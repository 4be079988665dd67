import { type Access, type Application, accessView, applicationView } from './application.ts';
import { noticePage } from './notice.ts';
import { shownName } from './reveal.ts';
import { type OwnPath, render, Verbatim } from './templates.ts';

/** The pages of the device flow (RFC 8628): type the code, compare and decide, done. */

export interface DeviceCodePage {
  readonly action: OwnPath;
  readonly switchAction: OwnPath;
  readonly csrf: string;
  /** What was typed before, or came with verification_uri_complete. */
  readonly userCode: string;
  readonly error: string | null;
  readonly username: string;
}

export function deviceCodePage(page: DeviceCodePage): string {
  return render('device-code', {
    action: page.action,
    switchAction: page.switchAction,
    csrf: new Verbatim(page.csrf),
    requestId: null,
    userCode: new Verbatim(page.userCode),
    error: page.error,
    username: shownName(page.username),
  });
}

export interface DeviceConfirmPage {
  readonly action: OwnPath;
  readonly switchAction: OwnPath;
  readonly csrf: string;
  readonly requestId: string;
  readonly userCode: string;
  readonly application: Application;
  readonly access: Access;
  readonly username: string;
}

/** Shown even when the code came with the address: else a link sent by a stranger would be enough (RFC 8628 section 5.4). */
export function deviceConfirmPage(page: DeviceConfirmPage): string {
  return render('device-confirm', {
    action: page.action,
    switchAction: page.switchAction,
    csrf: new Verbatim(page.csrf),
    requestId: new Verbatim(page.requestId),
    userCode: shownName(formatUserCode(page.userCode)),
    application: applicationView(page.application),
    destination: null,
    access: accessView(page.access),
    username: shownName(page.username),
  });
}

export function deviceDonePage(page: { readonly approved: boolean }): string {
  return page.approved
    ? noticePage({
        title: 'Device connected',
        message: 'You can go back to your device.',
        link: null,
      })
    : noticePage({
        title: 'Device not connected',
        message: 'Access was denied. You can close this page.',
        link: null,
      });
}

/** A user code as it is shown, XXXX-XXXX, however it was typed or stored. */
export function formatUserCode(userCode: string): string {
  const letters = userCode.replace(/[\s-]/g, '').toUpperCase();
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : userCode;
}
