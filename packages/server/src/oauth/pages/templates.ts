import { readFileSync } from 'node:fs';
import { Eta } from 'eta/core';
import { logoPath, stylesheetPath } from './assets.ts';
import { reveal } from './reveal.ts';

/** A path of this service. Pages link and post nowhere else. */
export type OwnPath = `/${string}`;

const templateNames = [
  'layout',
  'hidden-fields',
  'application-facts',
  'destination',
  'permissions',
  'account',
  'decision',
  'login',
  'consent',
  'error',
  'device-code',
  'device-confirm',
  'applications',
  'notice',
] as const;

type TemplateName = (typeof templateNames)[number];

/** A value that must come back from the browser as it was sent: escaped, but with nothing in it replaced. */
export class Verbatim {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities.get(character) ?? '');
}

/** What every `<%= %>` goes through. Anything but text is a slip of the template, and "undefined" is never printed. */
function print(value: unknown): string {
  if (typeof value === 'string') return escapeHtml(reveal(value));
  if (value instanceof Verbatim) return escapeHtml(value.value);
  throw new TypeError(
    `A template printed a value of type ${typeof value}; only text can be printed.`,
  );
}

const refuseUnknown: ProxyHandler<object> = {
  get(target, key, receiver) {
    if (typeof key === 'string' && !(key in target)) {
      throw new ReferenceError(`A template used ${key}, which its page does not give.`);
    }
    return Reflect.get(target, key, receiver);
  },
};

/** The same data, in which a name that is not there is an error instead of undefined: `if (it.eror)` must not pass. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null || value instanceof Verbatim) return value;
  return strictObject(value);
}

function strictObject(value: object): object {
  const copy = Object.entries(value).map(([key, inner]: [string, unknown]) => [key, strict(inner)]);
  return new Proxy(Object.fromEntries(copy), refuseUnknown);
}

/** A set of templates that can include each other by `@name`. */
export function templateSet(sources: ReadonlyMap<string, string>) {
  const eta = new Eta({ autoEscape: true, escapeFunction: print });
  for (const [name, source] of sources) {
    const compiled = eta.compile(source);
    // Includes pass a plain copy of the data on, so that strictness has to be put on at every entry.
    eta.loadTemplate(`@${name}`, function strictly(data = {}, options) {
      return compiled.call(this, strictObject(data), options);
    });
  }
  return (name: string, data: object): string => eta.render(`@${name}`, data);
}

const pages = templateSet(
  new Map(
    templateNames.map((name) => [
      name,
      readFileSync(new URL(`./templates/${name}.eta`, import.meta.url), 'utf8'),
    ]),
  ),
);

export function render(name: TemplateName, data: object): string {
  return pages(name, { ...data, stylesheetPath, logoPath });
}
