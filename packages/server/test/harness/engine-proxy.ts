import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A socket in front of the engine's, through which it can be made to go away and to come back. */
export interface EngineProxy {
  readonly address: string;
  /** The engine goes away: what is under way breaks off, and nobody listens. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** The next request of this form reaches the engine, and its answer nobody. */
  loseAnswerTo(request: RegExp): void;
  dispose(): Promise<void>;
}

export async function startEngineProxy(engineSocket: string): Promise<EngineProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-proxy-'));
  const path = join(folder, 'engine.sock');
  const sockets = new Set<Socket>();
  let lost: RegExp | undefined;
  const forward = (from: Socket): void => {
    const to = connect(engineSocket);
    from.on('data', (bytes) => {
      if (lost?.test(bytes.toString('latin1')) !== true) return;
      lost = undefined;
      to.unpipe(from);
      to.once('data', () => from.destroy()).resume();
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        // At an ordinary end the other side still has to send on what it got.
        if (!one.readableEnded) other.destroy();
      });
      one.pipe(other);
    }
  };
  let server: Server | undefined;
  const restore = async (): Promise<void> => {
    server = createServer({ allowHalfOpen: true }, forward).listen(path);
    await once(server, 'listening');
  };
  const cut = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    if (closing === undefined) return;
    closing.close();
    for (const socket of sockets) socket.destroy();
    await once(closing, 'close');
  };
  await restore();
  return {
    address: `unix://${path}`,
    cut,
    restore,
    loseAnswerTo: (request) => {
      lost = request;
    },
    dispose: async () => {
      await cut();
      rmSync(folder, { recursive: true });
    },
  };
}
