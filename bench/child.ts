import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A file beside this one, in a process of its own, so that it does not take the time of what it measures. */
export function forkBeside(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** The next message of the process. Rejects when it ends without one. */
export function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => {
      child.off('message', answered);
      reject(new Error(`${child.spawnargs.at(-1)} ended with code ${code} instead of answering`));
    };
    const answered = (answer: Answer): void => {
      child.off('exit', ended);
      resolve(answer);
    };
    child.once('message', answered);
    child.once('exit', ended);
  });
}
