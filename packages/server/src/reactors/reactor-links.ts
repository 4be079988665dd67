import type { Caller } from '../contract/caller.ts';
import { fail, ServiceError } from '../errors.ts';
import type { Reactor } from './reactor.ts';
import type { Reactors } from './reactors.ts';

type Known = Pick<Reactors, 'byName'>;

/** Links that lead on for longer are taken for a circle. */
const mostSteps = 50;

/** Whether what happens to the reactor `id` would come back to it, if its events went to `link`. */
export async function leadsBack(reactors: Known, id: string, link: string): Promise<boolean> {
  let next: string | null = link;
  for (let step = 0; next !== null; step += 1) {
    const reactor: Reactor | undefined = await reactors.byName(next);
    if (reactor === undefined) return false;
    if (reactor.id === id || step >= mostSteps) return true;
    next = reactor.link;
  }
  return false;
}

/** Refuses a link that this caller may not use, and one that leads back. `id`: the reactor, where it is there already. */
export async function checkLink(
  reactors: Known & Pick<Reactors, 'forCaller'>,
  caller: Caller,
  link: string | null,
  id = '',
): Promise<void> {
  if (link === null) return;
  try {
    await reactors.forCaller(caller, link, 'EXECUTE');
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    throw fail('invalid_field', {
      field: 'link',
      problem: `takes a reactor that you may send messages to. ${error.message}`,
    });
  }
  if (await leadsBack(reactors, id, link))
    throw fail('invalid_field', {
      field: 'link',
      problem:
        'would make a circle of linked reactors, in which one event causes the next for ever',
    });
}
