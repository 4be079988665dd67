import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { type Element, elementsOf, textOf } from '../oauth/page-elements.ts';

/** A form of a page, as a browser would send it. */
export interface PageForm {
  readonly action: string;
  readonly method: string;
  /** The values of its fields before anything is typed; buttons are not among them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly buttons: readonly { readonly name: string; readonly value: string }[];
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly location: string | undefined;
  readonly html: string;
  /** What a reader sees. */
  readonly text: string;
  /** The form with this action. */
  form(action: string): PageForm;
}

type Pairs = readonly (readonly [string, string])[];
/** As pairs where a field is to be sent more than once. */
type Fields = Readonly<Record<string, string>> | Pairs;

const isPairs = (fields: Fields): fields is Pairs => Array.isArray(fields);

/** A browser without a screen: it keeps cookies, reads forms, follows nothing by itself and sends addresses as they are. */
export class Browser {
  readonly cookies = new Map<string, string>();
  #base: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(base: string) {
    this.#base = base;
  }

  /** The service has moved to another port. */
  moveTo(base: string): void {
    this.#base = base;
  }

  /** A second browser with the same cookies, as a thief or a second process would have them. */
  copy(): Browser {
    const copy = new Browser(this.#base);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.#send('GET', path, undefined, headers);
  }

  post(
    path: string,
    fields: Fields,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const form = new URLSearchParams();
    for (const [name, value] of isPairs(fields) ? fields : Object.entries(fields))
      form.append(name, value);
    return this.#send('POST', path, form.toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    });
  }

  /** Any method and body, word for word. */
  send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    return this.#send(method, path, body, headers);
  }

  /** Fills in the form and sends it. */
  submit(form: PageForm, typed: Readonly<Record<string, string>> = {}): Promise<Reply> {
    assert.equal(form.method, 'post');
    return this.post(form.action, { ...form.fields, ...typed });
  }

  /** Goes where the reply points; only our own paths are followed. */
  follow(reply: Reply): Promise<Reply> {
    assert.match(reply.location ?? '', /^\//, `a redirect to an own path, not ${reply.status}`);
    return this.get(reply.location ?? '');
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    const { hostname, port } = new URL(this.#base);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await new Promise<Reply>((resolve, reject) => {
      const sent = request(
        {
          agent: this.#agent,
          hostname,
          port,
          method,
          path,
          headers: {
            ...(cookie !== '' && { cookie }),
            ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
            ...headers,
          },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () =>
            resolve(
              replyOf(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks).toString()),
            ),
          );
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
    this.#keepCookies(reply.headers['set-cookie'] ?? []);
    return reply;
  }

  #keepCookies(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(/;\s*/);
      const at = pair.indexOf('=');
      const expired = attributes.some((each) => /^(max-age=0|expires=.*1970.*)$/i.test(each));
      if (expired) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}

function replyOf(status: number, headers: IncomingHttpHeaders, html: string): Reply {
  return {
    status,
    headers,
    location: headers.location,
    html,
    get text() {
      return textOf(html.replace(/<title>.*?<\/title>/s, ''));
    },
    form: (action) => {
      const forms = elementsOf(html).filter(
        ({ name, attributes }) => name === 'form' && attributes.get('action') === action,
      );
      const [form] = forms;
      if (form === undefined)
        throw new Error(`there is no form ${action} on this page (${status}): ${textOf(html)}`);
      return formOf(form);
    },
  };
}

function formOf(form: Element): PageForm {
  const of = (element: Element, name: string) => element.attributes.get(name) ?? '';
  const fields = form.inside.filter(({ name }) => name === 'input');
  const buttons = form.inside.filter(({ name }) => name === 'button');
  return {
    action: of(form, 'action'),
    method: of(form, 'method'),
    fields: Object.fromEntries(fields.map((field) => [of(field, 'name'), of(field, 'value')])),
    buttons: buttons.map((button) => ({ name: of(button, 'name'), value: of(button, 'value') })),
  };
}
