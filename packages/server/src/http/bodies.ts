import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { fail } from '../errors.ts';
import { parseForm } from './form.ts';

/** What operations with fields take. */
export const acceptedTypes = ['application/json', 'application/x-www-form-urlencoded'] as const;

/** Reads JSON and form bodies. Types that no parser takes are answered 415 by the framework. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const text = decodeUtf8(body);
    if (text === undefined) return done(fail('malformed_json', { problem: 'it is not UTF-8' }));
    return parseJson(request, text, (error, value) => {
      if (error === null || error === undefined) return done(null, value);
      if (text.trim() === '') return done(fail('empty_body'));
      done(fail('malformed_json', { problem: describe(error) }));
    });
  });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      const text = decodeUtf8(body);
      const form = text === undefined ? undefined : parseForm(text);
      if (form === undefined) {
        return done(fail('malformed_form', { problem: 'broken percent-encoding, or not UTF-8' }));
      }
      done(null, form);
    },
  );
}

function decodeUtf8(body: string | Buffer): string | undefined {
  if (typeof body === 'string') return body;
  return isUtf8(body) ? body.toString('utf8') : undefined;
}

/** The parser's own words, without the document that it quotes: the body may hold a secret. */
function describe(error: Error): string {
  return error.message
    .replace(/,? ?"?\.{3}.*$/s, '')
    .replace(/[,:]? ?"[^"]*" is not valid JSON$/s, '');
}
