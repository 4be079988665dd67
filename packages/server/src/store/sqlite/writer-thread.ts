import { parentPort, workerData } from 'node:worker_threads';
import type { WriterRequest } from './batch-message.ts';
import { BatchRunner } from './batch-runner.ts';
import { connectToWrite } from './connection.ts';

// The thread has the one writing connection to itself, so that no fsync ever holds up the event loop.
const db = connectToWrite(String(workerData));
const runner = new BatchRunner(db);

parentPort?.on('message', (request: WriterRequest) => {
  if (request === 'close') {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(runner.run(request));
});
