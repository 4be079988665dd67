import type { Service } from './service.ts';

/** Requests that are still under way after this long are cut off, so that the process is gone within 10 s. */
const patienceMs = 8_000;

/**
 * Ctrl-C under `npm start` arrives twice: the terminal sends SIGINT to everybody in the foreground, and npm passes its
 * own on. A person who means it a second time takes longer than this.
 */
const echoMs = 1_000;

/** Set up before the service listens, so that no signal is missed. The first SIGTERM or SIGINT stops the service in good order, the second ends the process at once. */
export function stopOnSignals(starting: Promise<Service>): void {
  let stoppingSince: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== undefined) {
      if (signal === 'SIGINT' && performance.now() - stoppingSince < echoMs) return;
      process.exit(signal === 'SIGINT' ? 130 : 143);
    }
    stoppingSince = performance.now();
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
