/** A reader of the pages' own HTML, strict on purpose: what it does not understand is a fault of the page. */

export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** All elements between its start and its end. */
  readonly inside: Element[];
}

const voidElements = new Set(['meta', 'link', 'img', 'input']);
const tag = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*>/y;

function decode(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

function attributesOf(source: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', value = ''] of source.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)) {
    if (attributes.has(name)) throw new Error(`The attribute ${name} is there twice.`);
    attributes.set(name, decode(value));
  }
  return attributes;
}

/** All elements in the order of their start tags. */
export function elementsOf(html: string): Element[] {
  const all: Element[] = [];
  const open: Element[] = [];
  const body = html.replace(/^<!doctype html>/, '');
  for (let at = body.indexOf('<'); at !== -1; at = body.indexOf('<', at + 1)) {
    tag.lastIndex = at;
    const [, end, name = '', attributes = ''] = tag.exec(body) ?? [];
    if (end === undefined) throw new Error(`Not a tag: ${body.slice(at, at + 60)}`);
    if (end === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes something else.`);
      continue;
    }
    const element: Element = { name, attributes: attributesOf(attributes), inside: [] };
    for (const around of open) around.inside.push(element);
    all.push(element);
    if (!voidElements.has(name)) open.push(element);
  }
  if (open.length > 0) throw new Error(`Not closed: ${open.map((each) => each.name).join(', ')}`);
  return all;
}

/** What a reader sees, with single spaces. */
export function textOf(html: string): string {
  return decode(html.replace(/<\/?(?:b|bdi|span)\b[^>]*>/g, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}
