import { csrfMatches } from './csrf.ts';
import { formField, type PageVisit, queryField } from './page-visit.ts';
import { foreignFormPage, goneRequestPage, outdatedFormPage, Refusal } from './problem-pages.ts';
import { isLoggedIn, type KnownVisitor, type Visitor, type Visitors } from './visitors.ts';
import { readWaiting, type Waiting, waitingWord } from './waiting.ts';

/** What a form is about: the word that it or its address carries. Words that were never given out are refused. */
export function formWaiting(visit: PageVisit): Waiting {
  const given = visit.form['request'];
  const word = given === undefined ? queryField(visit, 'request') : given;
  const readable = word === undefined || typeof word === 'string';
  const waiting = readable ? readWaiting(word) : undefined;
  if (waiting === undefined) throw new Refusal(goneRequestPage());
  return waiting;
}

/** Lets a form in when it comes from a page of ours that was made for this session and for what it is about. */
export class PageForms {
  readonly #visitors: Visitors;
  readonly #baseUrl: () => string;

  constructor(visitors: Visitors, baseUrl: () => string) {
    this.#visitors = visitors;
    this.#baseUrl = baseUrl;
  }

  /** The visitor who sent the form; anything else is refused. */
  async admit(visit: PageVisit, about: Waiting): Promise<Visitor> {
    this.refuseForeign(visit);
    const visitor = await this.#visitors.find(visit.cookie);
    if (visitor === undefined || !this.isCurrent(visit, visitor, about))
      throw new Refusal(outdatedFormPage(about));
    if (visitor.user !== undefined) visit.known(visitor.user);
    return visitor;
  }

  async admitLoggedIn(visit: PageVisit, about: Waiting): Promise<KnownVisitor> {
    const visitor = await this.admit(visit, about);
    if (!isLoggedIn(visitor)) throw new Refusal(outdatedFormPage(about));
    return visitor;
  }

  isCurrent(visit: PageVisit, visitor: Visitor, about: Waiting): boolean {
    const given = formField(visit, 'csrf') ?? '';
    return csrfMatches(visitor.cookie, waitingWord(about), given);
  }

  /**
   * What the browser says of where a form comes from. Under `no-referrer`, which our pages set, and over plain http it
   * says nothing (`Origin: null`, no Sec-Fetch-Site); then the token alone decides.
   */
  refuseForeign({ fetchSite, origin, host }: PageVisit): void {
    const foreignSite =
      fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none';
    const foreignOrigin =
      origin !== undefined && origin !== 'null' && !this.#isOwnOrigin(origin, host);
    if (foreignSite || foreignOrigin) throw new Refusal(foreignFormPage());
  }

  /** The service may be reached under more names than its base URL; a browser's own pages name the host it asked. */
  #isOwnOrigin(origin: string, host: string): boolean {
    return origin === new URL(this.#baseUrl()).origin || URL.parse(origin)?.host === host;
  }
}
