import type { Service } from './service.ts';

/** Requests that are still under way after this long are cut off, so that the process is gone within 10 s. */
const patienceMs = 8_000;

/** Set up before the service listens, so that no signal is missed. The first SIGTERM or SIGINT stops the service in good order, the second ends the process at once. */
export function stopOnSignals(starting: Promise<Service>): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    stopping = true;
    setTimeout(() => process.exit(0), patienceMs).unref();
    const stopped = starting.then((service) => service.stop());
    stopped.then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`reactord: stopping failed: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
