import type { PageAnswer } from '../contract/page-answer.ts';
import { sourceOf } from './redirect-source.ts';

interface PageOptions {
  readonly status?: number;
  /** The address to which the forms of this page may lead in the end. */
  readonly redirectUri?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export function page(body: string, options: PageOptions = {}): PageAnswer {
  const { status = 200, redirectUri, headers } = options;
  return { status, headers: { ...pageHeaders(redirectUri), ...headers }, body };
}

/** The answer to a form is fetched with GET: any other status would send the password along (RFC 9700 section 4.12). */
export function seeOther(address: string): PageAnswer {
  return { status: 303, headers: { ...pageHeaders(), location: address }, body: '' };
}

export function found(address: string): PageAnswer {
  return { ...seeOther(address), status: 302 };
}

/** Pages are in no frame, in no cache and in no Referer; they load our own style and pictures and run no script. */
function pageHeaders(redirectUri?: string): Readonly<Record<string, string>> {
  const formTargets = redirectUri === undefined ? '' : ` ${sourceOf(redirectUri)}`;
  return {
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
      "img-src 'self'",
      "base-uri 'none'",
      `form-action 'self'${formTargets}`,
      "frame-ancestors 'none'",
    ].join('; '),
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    pragma: 'no-cache',
  };
}
