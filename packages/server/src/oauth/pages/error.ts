import { render } from './templates.ts';

export interface ErrorPage {
  readonly title: string;
  /** What went wrong, in one sentence. */
  readonly problem: string;
  /** What the reader can do now. */
  readonly advice: string;
}

/** For an authorization request that cannot be answered by a redirect, because its client or its address is not to be trusted. */
export function errorPage(page: ErrorPage): string {
  return render('error', { title: page.title, problem: page.problem, advice: page.advice });
}
