import type { PageAnswer } from '../contract/page-answer.ts';
import type { ErrorCode, ServiceError } from '../errors.ts';
import { page } from './page-answers.ts';
import { errorPage } from './pages/error.ts';
import { noticePage } from './pages/notice.ts';
import { pathOf, type Waiting } from './waiting.ts';

/** Ends the handling of a visit with this page. */
export class Refusal extends Error {
  readonly answer: PageAnswer;

  constructor(answer: PageAnswer) {
    super('the visit was refused');
    this.answer = answer;
  }
}

/** An authorization request that must not be answered by a redirect. */
export function untrustedPage(problem: string): PageAnswer {
  const body = errorPage({
    title: 'This request cannot be answered',
    problem,
    advice: 'Go back to the application you came from. If this happens again, tell its developer.',
  });
  return page(body, { status: 400 });
}

/** A request that was answered, that waited too long, or that is not this browser's. */
export function goneRequestPage(): PageAnswer {
  const body = errorPage({
    title: 'This request is no longer open',
    problem:
      'It was answered already, it waited for more than ten minutes, or it changed meanwhile.',
    advice:
      'Go back to the application you came from and start again. Your browser has to accept the cookie of this service.',
  });
  return page(body, { status: 400 });
}

/** A form of another tab, of before a login or of before a log-out. */
export function outdatedFormPage(waiting: Waiting): PageAnswer {
  const body = noticePage({
    title: 'This page is out of date',
    message:
      'Nothing was done. You have logged in or out since the page was loaded, or your browser did not send the cookie of this service.',
    link: { href: pathOf(waiting), text: 'Load it again' },
  });
  return page(body, { status: 403 });
}

export function foreignFormPage(): PageAnswer {
  const body = errorPage({
    title: 'This form came from another site',
    problem: 'Nothing was done: only pages of this service may send its forms.',
    advice: 'If you did not expect this, close the page.',
  });
  return page(body, { status: 403 });
}

const titles: Partial<Record<ErrorCode, string>> = {
  wrong_verb: 'This address works differently',
  body_too_large: 'That was too much',
  too_many_requests: 'Too many attempts',
  busy: 'The service is busy',
  store_unavailable: 'The service cannot work right now',
  shutting_down: 'The service is stopping',
  internal: 'Something went wrong',
};

/** Any other error, where a person instead of a program meets it. */
export function problemPage(error: ServiceError): PageAnswer {
  const body = errorPage({
    title: titles[error.code] ?? 'This did not work',
    problem: error.message,
    advice: 'Go back and try again, or start again from the application you came from.',
  });
  return page(body, { status: error.status, headers: error.headers });
}
