import { looksLikeId } from '../ids.ts';

const shape = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Words that stand in the place of a reactor's name in addresses of this area, today or in clients' eyes. An alias of
 * that name could not be reached.
 */
const operations: ReadonlySet<string> = new Set([
  'actors',
  'adapters',
  'admin',
  'aliases',
  'batches',
  'configs',
  'dead-letters',
  'deliveries',
  'events',
  'executions',
  'logs',
  'messages',
  'metrics',
  'nonces',
  'permissions',
  'quotas',
  'reactors',
  'results',
  'schedules',
  'search',
  'state',
  'stream',
  'usage',
  'utilization',
  'webhooks',
  'workers',
]);

/** Whether a text can be an alias at all; others need not be looked for. */
export const canBeAlias = (text: string): boolean => aliasProblem(text) === undefined;

/** What is wrong with an alias; undefined when nothing is. */
export function aliasProblem(text: string): string | undefined {
  if (!shape.test(text)) return 'takes 1 to 128 letters, digits, hyphens, underscores or dots';
  if (/^\.+$/.test(text)) return 'takes more than dots: addresses would lose it';
  if (operations.has(text.toLowerCase()))
    return 'is the name of an operation, so it cannot be the name of a reactor';
  if (looksLikeId(text))
    return 'looks like the id of a reactor; make it longer or shorter, or put a hyphen into it';
  return undefined;
}
