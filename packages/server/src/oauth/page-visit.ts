import type { TSchema } from 'typebox';
import type { PageAnswer } from '../contract/page-answer.ts';

/** A browser's request for a page. */
export interface PageVisit {
  /** What stands behind the `?`, as it came. */
  readonly query: string;
  /** A field that was sent more than once is a list. Empty for GET. */
  readonly form: Readonly<Record<string, unknown>>;
  /** What the session's cookie holds. */
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The host that the browser believes to talk to. */
  readonly host: string;
  /** Where it comes from. */
  readonly address: string;
  readonly log: VisitLog;
  /** Told who sends a form, once that is known. */
  readonly known: (person: { readonly id: string; readonly username: string }) => void;
}

interface VisitLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What the browser gets, and what becomes of its session cookie: a new value, null to remove it, undefined to keep it. */
export interface VisitAnswer extends PageAnswer {
  readonly cookie?: string | null;
}

export interface PageRoute {
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description: string;
  /** What its address takes, for the API description. */
  readonly parameters?: TSchema;
  readonly answer: (visit: PageVisit) => Promise<VisitAnswer>;
}

/** A field of the form that came exactly once and is text that any store can hold. */
export function formField(visit: PageVisit, name: string): string | undefined {
  const value = visit.form[name];
  return typeof value === 'string' && !value.includes('\0') ? value : undefined;
}

/** A parameter of an address of our own, whatever was put into it. */
export function queryField(visit: PageVisit, name: string): string | undefined {
  return new URLSearchParams(visit.query).get(name) ?? undefined;
}
