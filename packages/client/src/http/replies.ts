import { apiError, InvalidReplyError, OAuthError, type ReactordError } from '../errors.ts';
import { readRetryAfter } from './retry-after.ts';

type Json = ReturnType<typeof JSON.parse>;

/** The result of a reply: what the envelope holds, or the body where there is none. */
export async function resultOf(reply: Response): Promise<Json> {
  const text = await reply.text();
  if (text === '') return null;
  const body = parse(text);
  if (body === undefined)
    throw new InvalidReplyError(
      `${withoutQuery(reply.url)} did not answer with JSON; is this the address of the service?`,
    );
  return isEnvelope(body) ? body.result : body;
}

function isEnvelope(body: Json): body is { readonly result: Json } {
  return isObject(body) && body['status'] === 'success' && 'result' in body && 'version' in body;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a reply that is not a success means. `request`: as `verb path`. */
export async function errorOf(reply: Response, request: string): Promise<ReactordError> {
  const body = parse(await reply.text());
  const fields = isObject(body) ? body : {};
  const { status } = reply;
  if (typeof fields['error'] === 'string') {
    const said = fields['error_description'];
    return new OAuthError(
      fields['error'],
      typeof said === 'string' ? said : fields['error'],
      status,
    );
  }
  const { message } = fields;
  return apiError({
    status,
    message:
      typeof message === 'string' ? message : `${request} was answered with the status ${status}.`,
    request,
    requestId: reply.headers.get('x-request-id') ?? undefined,
    retryAfter: readRetryAfter(reply.headers.get('retry-after')),
    result: fields['result'] ?? null,
  });
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const withoutQuery = (url: string): string => url.replace(/\?.*$/, '');
