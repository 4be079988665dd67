import { staticProgram } from './static-program.ts';
import { amd64WaitCode } from './wait-code-amd64.ts';
import { arm64WaitCode } from './wait-code-arm64.ts';

/**
 * The program that a spare container begins with, in the image's place and with the image's own program as its
 * arguments. It says that it waits, and reads from its input what `handedOver` has put together. Once all of that is
 * there it says so, and becomes the image's program: with what it was given over its own environment, and nothing to read
 * on its input, as if the container had been started with it. It looks for the program along PATH. What it cannot become
 * it leaves to the engine's first process, which tells the rest in its words. When its input ends before, it ends.
 */

/** What it says, each on a line of stderr. `docker logs` shows them; who reads the output of an execution never does. */
export const waitsLine = Buffer.from('[reactord: waits]\n');
export const beginsLine = Buffer.from('[reactord: begins]\n');

/** Where a container has it. */
export const waitPath = '/.reactord-wait';
/** Raised whenever the program changes. */
export const waitVersion = 1;

/** What stands behind the code, in this order. */
const constants = Buffer.concat([
  waitsLine,
  beginsLine,
  Buffer.from('/dev/null\0/sbin/docker-init\0-s\0--\0PATH=\0'),
]);

/** The executable for an engine's architecture, or undefined where there is none for it. */
export function waitProgram(architecture: string): Buffer | undefined {
  return staticProgram(architecture, { amd64: amd64WaitCode, arm64: arm64WaitCode }, constants);
}

/**
 * What the program reads: how many bytes and how many variables, four bytes each, and the variables, each with its end.
 * There is one more end, so that there is always something to read.
 */
export function handedOver(variables: readonly string[]): Buffer {
  const body = Buffer.from(`${variables.map((variable) => `${variable}\0`).join('')}\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32LE(body.length, 0);
  head.writeUInt32LE(variables.length, 4);
  return Buffer.concat([head, body]);
}
