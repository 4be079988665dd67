import type { Reactor } from '../reactors/reactor.ts';
import type { Store } from '../store/store.ts';
import type { Executions } from './executions.ts';
import type { Runner } from './run.ts';
import { dropWaiting } from './waiting.ts';

/** A reactor is to go: what waits for it is dropped, what runs is stopped. Resolves when nothing of it runs any more. */
export async function endAllOf(
  store: Store,
  runner: Pick<Runner, 'ofReactor'>,
  executions: Pick<Executions, 'tellSettled'>,
  reactor: Reactor,
  by: string,
): Promise<void> {
  const reason = `${by} deleted the reactor`;
  const running = runner.ofReactor(reactor.id);
  for (const active of running) active.stop(reason);
  // The status is SHUTTING_DOWN already: nothing is admitted or claimed any more.
  await dropWaiting(store, reactor.id, `dropped: ${reason} before it ran`, (id) =>
    executions.tellSettled(id),
  );
  await Promise.all(running.map(({ settled }) => settled));
}
