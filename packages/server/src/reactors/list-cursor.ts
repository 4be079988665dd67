import { fail } from '../errors.ts';
import { reactorIdPattern } from './reactor.ts';
import type { ListPlace } from './reactor-list.ts';

/** A place in the list, to go on from at the same cost wherever it is. */
export function cursorAfter({ createdAt, id }: ListPlace): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url');
}

export function readCursor(given: string | undefined): ListPlace | undefined {
  if (given === undefined) return undefined;
  const match = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(given, 'base64url').toString('latin1'));
  const [, createdAt, id = ''] = match ?? [];
  if (createdAt === undefined || !reactorIdPattern.test(id))
    throw fail('invalid_field', {
      field: 'cursor',
      problem: 'takes the cursor in the Link header of the page before',
    });
  return { createdAt: Number(createdAt), id };
}
