import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';
import type { WriterRequest } from './batch-message.ts';
import { BatchRunner } from './batch-runner.ts';
import { connectToWrite } from './connection.ts';

/**
 * A caller who awaits each write sends the next one within 30 µs or so after the answer. To look out for it is cheaper
 * than to fall asleep and be woken: an empty unit takes 26 µs there and back instead of 53, and a queue of batches is
 * worked off without a pause. Nobody looks out when nobody writes.
 */
const lookoutMilliseconds = 0.1;

// The thread has the one writing connection to itself, so that no fsync ever holds up the event loop.
if (parentPort !== null) serve(parentPort, String(workerData));

function serve(port: MessagePort, file: string): void {
  const db = connectToWrite(file);
  const runner = new BatchRunner(db);
  port.on('message', (first: WriterRequest) => {
    for (let request = first; ; ) {
      if (request === 'close') {
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        db.close();
        port.close();
        return;
      }
      port.postMessage(runner.run(request));
      // Several callers at once keep the other thread busy for longer than it pays to look out.
      const next = request.units > 1 ? nextOf(port) : lookOut(port);
      if (next === undefined) return;
      request = next;
    }
  });
}

function nextOf(port: MessagePort): WriterRequest | undefined {
  const received: { message: WriterRequest } | undefined = receiveMessageOnPort(port);
  return received?.message;
}

function lookOut(port: MessagePort): WriterRequest | undefined {
  const end = performance.now() + lookoutMilliseconds;
  do {
    const next = nextOf(port);
    if (next !== undefined) return next;
  } while (performance.now() < end);
  return undefined;
}
